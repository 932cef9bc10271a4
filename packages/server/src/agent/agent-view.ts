import type { Scope } from "@cognition/contract";
import type { Problem } from "../file/problem.ts";
import type { ToolSummary } from "../tool/tool.ts";
import type { KnownTools } from "../tool/tool-registry.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { AgentFiles } from "./agent-files.ts";
import type { AgentStore, StoredAgent } from "./agent-store.ts";
import { builtinAgents } from "./builtin-agents.ts";
import type { KnownNames } from "./definition-check.ts";
import { scopeChain, scopeKey } from "./scope-chain.ts";
import type { SkillFiles } from "./skill-files.ts";

export interface AgentSources {
  readonly store: AgentStore;
  readonly files: AgentFiles;
  readonly skills: SkillFiles;
  readonly tools: { known(): Promise<KnownTools> };
  /** Agents that the configuration makes, such as compiled graphs. As fixed as the built-in ones. */
  readonly registered: readonly AgentDefinition[];
  readonly middleware: readonly string[];
  providers(scope: Scope): Promise<readonly string[]>;
}

/** Everything as one scope sees it at one moment. */
export interface AgentView {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly tools: ReadonlyMap<string, ToolSummary>;
  /** Built-in and registered ones: nobody else may have their names. */
  readonly fixed: ReadonlySet<string>;
  /** Name to the file that defines it. */
  readonly origins: ReadonlyMap<string, string>;
  readonly known: KnownNames;
  readonly problems: readonly Problem[];
}

/**
 * Who wins a name: built-in and registered agents, then the API's from the most specific scope outward, then files. The API
 * can't take a file's name, so both exist only when the file came later; the API's then stays in force, and the file is
 * reported.
 */
export async function viewAgents(sources: AgentSources, scope: Scope = {}): Promise<AgentView> {
  const chain = scopeChain(scope);
  const [tools, skills, stored, providers, shared] = await Promise.all([
    sources.tools.known(),
    sources.skills.refresh(),
    sources.store.listAgents(chain),
    sources.providers(scope),
    sources.providers({}),
  ]);
  const fixed = [...builtinAgents([...tools.tools.values()]), ...sources.registered];
  const known: KnownNames = {
    hasTool: (name) => tools.has(name),
    tools: [...tools.tools.keys()],
    skills: skills.skills.map(({ name }) => name),
    agents: byName(fixed),
    middleware: sources.middleware,
    providers,
  };
  const files = await sources.files.refresh({ ...known, providers: shared });
  const own = mostSpecific(stored, chain);
  const agents = new Map([...byName(files.definitions), ...byName(own), ...byName(fixed)]);
  return {
    agents,
    tools: tools.tools,
    fixed: new Set(fixed.map(({ name }) => name)),
    origins: files.origins,
    known: { ...known, agents },
    problems: [...skills.problems, ...files.problems, ...hiddenFiles(own, files.origins)],
  };
}

function byName(definitions: readonly AgentDefinition[]): Map<string, AgentDefinition> {
  return new Map(definitions.map((definition) => [definition.name, definition]));
}

function mostSpecific(stored: readonly StoredAgent[], chain: readonly Scope[]): AgentDefinition[] {
  const rank = new Map(chain.map((scope, index) => [scopeKey(scope), index]));
  const outward = stored.toSorted((a, b) => (rank.get(scopeKey(b.scope)) ?? 0) - (rank.get(scopeKey(a.scope)) ?? 0));
  // Later entries win in a map: the most specific comes last.
  return [...byName(outward.map(({ definition }) => definition)).values()];
}

function hiddenFiles(own: readonly AgentDefinition[], origins: ReadonlyMap<string, string>): Problem[] {
  return own.flatMap(({ name }) => {
    const file = origins.get(name);
    if (file === undefined) return [];
    const message = `${file}: has no effect, since an agent "${name}" was made through the API before; delete that one, or rename this`;
    return [{ code: "already_exists" as const, message, file, line: null }];
  });
}
