import type { Scope } from "@cognition/contract";
import { whenChanged } from "../definition/when-changed.ts";
import type { Problem } from "../file/problem.ts";
import { forgetOldest } from "../forget-oldest.ts";
import { scopeKey } from "../scope-key.ts";
import type { ToolSummary } from "../tool/tool.ts";
import type { KnownTools } from "../tool/tool-registry.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { AgentFiles, AgentFilesState } from "./agent-files.ts";
import type { AgentStore, StoredAgent } from "./agent-store.ts";
import { builtinAgents } from "./builtin-agents.ts";
import type { KnownNames } from "./definition-check.ts";
import { scopeChain } from "./scope-chain.ts";
import type { KnownSkills, SkillFiles } from "./skill-files.ts";

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

/** The same object as before, if nothing has changed. */
export type ViewAgents = (scope?: Scope) => Promise<AgentView>;

/** Forgetting a scope's view costs making it once more. */
const VIEWS_KEPT = 1_000;

export function createAgentViews(sources: AgentSources): ViewAgents {
  const views = new Map<string, ReturnType<typeof createView>>();
  const commonFor = whenChanged((tools: KnownTools, skills: KnownSkills) => commonTo(sources, tools, skills));
  const sharedFor = whenChanged(withProviders);

  function viewOf(scope: Scope): ReturnType<typeof createView> {
    const key = JSON.stringify(scope); // the order of its keys counts
    const known = views.get(key);
    if (known) return known;
    forgetOldest(views, VIEWS_KEPT);
    const view = createView(scope);
    views.set(key, view);
    return view;
  }

  return async (scope = {}) => {
    const [tools, skills, stored, providers, shared] = await Promise.all([
      sources.tools.known(),
      sources.skills.refresh(),
      sources.store.listAgents(scopeChain(scope)),
      sources.providers(scope),
      sources.providers({}),
    ]);
    const common = commonFor(tools, skills);
    const files = await sources.files.refresh(sharedFor(common, shared.join(BETWEEN)));
    return viewOf(scope)(common, stored, files, providers.join(BETWEEN));
  };
}

/** No provider's id has one. */
const BETWEEN = "\n";

/** What every scope sees. */
interface Common {
  readonly tools: KnownTools;
  readonly fixed: readonly AgentDefinition[];
  readonly names: Omit<KnownNames, "providers">;
  readonly problems: readonly Problem[];
}

function commonTo(sources: AgentSources, tools: KnownTools, { skills, problems }: KnownSkills): Common {
  const fixed = [...builtinAgents([...tools.tools.values()]), ...sources.registered];
  const names = {
    hasTool: tools.has,
    tools: [...tools.tools.keys()],
    skills: skills.map(({ name }) => name),
    agents: byName(fixed),
    middleware: sources.middleware,
  };
  return { tools, fixed, names, problems };
}

function withProviders({ names }: Common, providers: string): KnownNames {
  return { ...names, providers: providers === "" ? [] : providers.split(BETWEEN) };
}

/**
 * Who wins a name: built-in and registered agents, then the API's from the most specific scope outward, then files. The API
 * can't take a file's name, so both exist only when the file came later; the API's then stays in force, and the file is
 * reported.
 */
function createView(scope: Scope) {
  return whenChanged(
    (common: Common, stored: readonly StoredAgent[], files: AgentFilesState, providers: string): AgentView => {
      const { fixed } = common;
      const own = mostSpecific(stored, scopeChain(scope));
      const agents = new Map([...byName(files.definitions), ...byName(own), ...byName(fixed)]);
      return {
        agents,
        tools: common.tools.tools,
        fixed: new Set(fixed.map(({ name }) => name)),
        origins: files.origins,
        known: { ...withProviders(common, providers), agents },
        problems: [...common.problems, ...files.problems, ...hiddenFiles(own, files.origins)],
      };
    },
  );
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
