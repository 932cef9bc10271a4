import { setImmediate } from "node:timers/promises";
import {
  type Agent,
  type AgentMode,
  AppError,
  type CreateAgent,
  type ReplaceAgent,
  type Scope,
  type UpdateAgent,
} from "@cognition/contract";
import type { Problem } from "../file/problem.ts";
import { scopeKey } from "../scope-key.ts";
import type { AgentDefinition, ResolvedAgent } from "./agent-definition.ts";
import { createAgentEditor } from "./agent-editor.ts";
import { withRevision } from "./agent-revision.ts";
import { type AgentSources, type AgentView, createAgentViews } from "./agent-view.ts";
import { planDelegation, requireSubagents } from "./delegation.ts";

/**
 * Every agent there is, wherever it was defined. A name is looked up among the built-in agents, then in the caller's scope,
 * then in wider ones, then in the workspace's files.
 */
export interface AgentRegistry {
  /**
   * `unknown_agent`, naming the valid ones, if nothing of that name is seen from the scope, or only one that can but be
   * delegated to. Stores nothing: the request may yet be refused for another reason.
   */
  findForSession(name: string, scope?: Scope): Promise<ResolvedAgent>;
  /** As `findForSession`, and stores the revision. */
  resolveForSession(name: string, scope?: Scope): Promise<ResolvedAgent>;
  /** Stores the revision that was found. */
  keep(agent: ResolvedAgent, scope?: Scope): Promise<ResolvedAgent>;
  /** What a run began with, also after the definition was changed or deleted. `agent_not_found` if there never was one. */
  at(revision: string): Promise<ResolvedAgent>;

  /** By name, and how many there are in all. */
  list(scope?: Scope, query?: AgentQuery): Promise<{ agents: Agent[]; total: number }>;
  /** `agent_not_found` */
  get(name: string, scope?: Scope): Promise<Agent>;
  /** `already_exists` if the name is taken in that scope, by a file or by a built-in agent. */
  create(agent: CreateAgent, scope?: Scope): Promise<Agent>;
  /** Makes or replaces the scope's own definition. `not_writable` for built-in ones and files. */
  replace(name: string, agent: ReplaceAgent, scope?: Scope): Promise<Agent>;
  /** Changes what is given. `not_writable` for one that belongs to a wider scope, too. */
  update(name: string, patch: UpdateAgent, scope?: Scope): Promise<Agent>;
  delete(name: string, scope?: Scope): Promise<void>;

  /** What is wrong with files now. The others work, and a file that worked before does so in its former form. */
  problems(): Promise<Problem[]>;
}

export interface AgentQuery {
  readonly mode?: AgentMode;
  readonly limit?: number;
  readonly offset?: number;
}

/** Forgetting costs a write that changes nothing; remembering for ever would grow with every edit. */
const MAX_REMEMBERED = 10_000;

export function createAgentRegistry(sources: AgentSources): AgentRegistry {
  const { store } = sources;
  const viewAgents = createAgentViews(sources);
  const saved = new Set<string>();

  async function keep(agent: ResolvedAgent, scope: Scope): Promise<ResolvedAgent> {
    const key = `${agent.revision} ${scopeKey(scope)}`;
    if (saved.has(key)) return agent;
    await store.saveRevision(agent, scope);
    if (saved.size >= MAX_REMEMBERED) saved.clear();
    saved.add(key);
    return agent;
  }

  /** One that another node has made a moment ago is there, too. */
  async function viewWith(name: string, scope?: Scope): Promise<AgentView> {
    const view = await viewAgents(scope);
    if (view.agents.has(name)) return view;
    store.lookAgain();
    return viewAgents(scope);
  }

  async function findForSession(name: string, scope: Scope = {}): Promise<ResolvedAgent> {
    const view = await viewWith(name, scope);
    const definition = view.agents.get(name);
    if (!definition || definition.mode === "subagent") throw unknownAgent(name, view);
    requireSubagents(definition, view);
    return resolvedIn(view, definition);
  }

  async function list(scope?: Scope, { mode, limit = Number.POSITIVE_INFINITY, offset = 0 }: AgentQuery = {}) {
    const view = await viewAgents(scope);
    const found = [...view.agents.values()].filter((agent) => mode === undefined || agent.mode === mode).sort(byName);
    const agents: Agent[] = [];
    for (const definition of found.slice(offset, offset + limit)) {
      agents.push(toAgent(definition, view));
      // A revision covers all that an agent may delegate to: where each may to each of hundreds, all of them take seconds.
      await setImmediate();
    }
    return { agents, total: found.length };
  }

  async function get(name: string, scope?: Scope): Promise<Agent> {
    const view = await viewWith(name, scope);
    const definition = view.agents.get(name);
    if (definition) return toAgent(definition, view);
    throw new AppError("agent_not_found", `there is no agent "${name}"`);
  }

  const editor = createAgentEditor(store, viewAgents);
  return {
    findForSession,
    resolveForSession: async (name, scope = {}) => keep(await findForSession(name, scope), scope),
    keep: (agent, scope = {}) => keep(agent, scope),
    async at(revision) {
      const agent = await store.findRevision(revision);
      if (agent) return agent;
      throw new AppError("agent_not_found", `there is no agent of revision ${revision}`);
    },
    list,
    get,
    create: async (agent, scope) => get(await editor.create(agent, scope), scope),
    replace: async (name, agent, scope) => get(await editor.replace(name, agent, scope), scope),
    update: async (name, patch, scope) => get(await editor.update(name, patch, scope), scope),
    delete: (name, scope) => editor.delete(name, scope),
    problems: async () => [...(await viewAgents()).problems],
  };
}

function byName(a: AgentDefinition, b: AgentDefinition): number {
  return a.name < b.name ? -1 : 1;
}

function toAgent(definition: AgentDefinition, view: AgentView): Agent {
  return { ...definition, revision: resolvedIn(view, definition).revision };
}

/** Every message asks for its agent; as long as nothing has changed it is the same. */
const resolved = new WeakMap<AgentView, Map<AgentDefinition, ResolvedAgent>>();

function resolvedIn(view: AgentView, definition: AgentDefinition): ResolvedAgent {
  const inView = resolved.get(view) ?? new Map<AgentDefinition, ResolvedAgent>();
  resolved.set(view, inView);
  const agent = inView.get(definition) ?? withRevision(planDelegation(definition, view));
  inView.set(definition, agent);
  return agent;
}

function unknownAgent(name: string, { agents }: AgentView): AppError {
  const usable = [...agents.values()].filter(({ mode }) => mode !== "subagent");
  const valid = usable.map((agent) => agent.name).sort();
  const reason = agents.has(name) ? "can only be delegated to (its mode is subagent)" : "is not known";
  const message = `the agent "${name}" ${reason}; valid: ${valid.join(", ")}`;
  return new AppError("unknown_agent", message, { details: { agent: name, valid } });
}
