import { join } from "node:path";
import { whenChanged } from "../definition/when-changed.ts";
import { createFileSet, type LoadedFile, type LoadedFiles } from "../file/file-set.ts";
import { findByEnding } from "../file/find-files.ts";
import { type Problem, toProblem } from "../file/problem.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { AGENT_FILE_ENDINGS, type AgentFile, parseAgentFile } from "./agent-file.ts";
import { type DefinitionFault, findFaults, type KnownNames } from "./definition-check.ts";
import { yamlError } from "./yaml-source.ts";

export interface AgentFilesState {
  readonly definitions: readonly AgentDefinition[];
  readonly problems: readonly Problem[];
  /** Name to the file that defines it. */
  readonly origins: ReadonlyMap<string, string>;
}

export interface AgentFiles {
  /**
   * As the files are now. `known` has everything but the agents of files, which may name each other. The same object as
   * before, if neither has changed.
   */
  refresh(known: KnownNames): Promise<AgentFilesState>;
}

interface Candidate extends AgentFile {
  readonly path: string;
  readonly label: string;
}

/**
 * The agents of `.cognition/agents`. A file that is wrong takes nothing else down: what it last defined stays in force
 * until it is corrected or removed.
 */
export function createAgentFiles({ root }: { root: string }): AgentFiles {
  const folder = join(root, ".cognition", "agents");
  const find = (at: string) => findByEnding(at, AGENT_FILE_ENDINGS);
  const files = createFileSet({ root, folder, find, parse: parseAgentFile });
  let inForce = new Map<string, Candidate>();

  const settleAll = whenChanged((loaded: LoadedFiles<AgentFile>, known: KnownNames): AgentFilesState => {
    const result = settle(loaded.files, inForce, known);
    inForce = result.accepted;
    const accepted = [...inForce.values()];
    return {
      definitions: accepted.map(({ definition }) => definition),
      problems: [...loaded.problems, ...result.problems],
      origins: new Map(accepted.map(({ definition, label }) => [definition.name, label])),
    };
  });

  return { refresh: async (known) => settleAll(await files.refresh(), known) };
}

type Loaded = LoadedFile<AgentFile>;

interface Settling {
  readonly accepted: Map<string, Candidate>;
  /** What was in force before, by path. */
  readonly before: ReadonlyMap<string, Candidate>;
  /** Paths where the former definition stays although what it names is gone: its problem is reported already. */
  readonly kept: Set<string>;
  readonly known: KnownNames;
}

function settle(files: readonly Loaded[], before: ReadonlyMap<string, Candidate>, known: KnownNames) {
  const problems: Problem[] = [];
  const accepted = new Map<string, Candidate>();
  for (const { path, label, value } of files) if (value) accepted.set(path, { path, label, ...value });
  const state: Settling = { accepted, before, kept: new Set(), known };

  // One that is refused may have been what another names: again until nothing changes.
  for (let refused = refuseFirst(state); refused; refused = refuseFirst(state)) {
    const { path } = refused.candidate;
    problems.push(refused.problem);
    accepted.delete(path);
    const former = before.get(path);
    if (!former || state.kept.has(path)) continue;
    accepted.set(path, former);
    state.kept.add(path);
  }
  return { accepted, problems };
}

function refuseFirst({ accepted, before, kept, known }: Settling) {
  const owners = new Map<string, string>();
  const agents = new Map<string, Pick<AgentDefinition, "mode">>(known.agents);
  for (const { definition } of accepted.values()) {
    if (!agents.has(definition.name)) agents.set(definition.name, definition);
  }
  // Whoever had a name keeps it when another file comes to want it.
  const isNew = ({ path, definition }: Candidate) => Number(before.get(path)?.definition.name !== definition.name);
  const inOrder = [...accepted.values()].sort((a, b) => isNew(a) - isNew(b) || (a.path < b.path ? -1 : 1));
  for (const candidate of inOrder) {
    const fault = kept.has(candidate.path) ? undefined : faultProblem(candidate, { ...known, agents });
    const problem = nameProblem(candidate, owners, known) ?? fault;
    if (problem) return { candidate, problem };
    owners.set(candidate.definition.name, candidate.label);
  }
  return undefined;
}

function nameProblem(candidate: Candidate, owners: ReadonlyMap<string, string>, known: KnownNames) {
  const { definition, source, label } = candidate;
  const { name } = definition;
  const owner = known.agents.has(name) ? "a built-in agent" : owners.get(name);
  if (!owner) return undefined;
  const line = source.lineOf(["name"]);
  const message = `the name "${name}" is taken by ${owner}; give this agent another`;
  return toProblem(yamlError(label, line, message), label);
}

function faultProblem({ definition, source, label }: Candidate, known: KnownNames): Problem | undefined {
  const [fault]: DefinitionFault[] = findFaults(definition, known);
  if (!fault) return undefined;
  const { message, line } = toProblem(yamlError(label, source.lineOf(fault.path), fault.message), label);
  return { code: fault.code, message, file: label, line };
}
