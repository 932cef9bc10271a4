import {
  AgentName,
  AppError,
  type CreateAgent,
  parseInput,
  type ReplaceAgent,
  type Scope,
  type UpdateAgent,
} from "@cognition/contract";
import type { AgentDefinition } from "./agent-definition.ts";
import { definitionHash } from "./agent-revision.ts";
import type { AgentStore, StoredAgent } from "./agent-store.ts";
import type { AgentView, ViewAgents } from "./agent-view.ts";
import { findFaults } from "./definition-check.ts";

/** Writing through the API: always the definition of exactly one scope. Each gives the name it wrote. */
export interface AgentEditor {
  create(agent: CreateAgent, scope?: Scope): Promise<string>;
  replace(name: string, agent: ReplaceAgent, scope?: Scope): Promise<string>;
  update(name: string, patch: UpdateAgent, scope?: Scope): Promise<string>;
  delete(name: string, scope?: Scope): Promise<void>;
}

export function createAgentEditor(store: AgentStore, viewAgents: ViewAgents): AgentEditor {
  /** What is written may name what another node has made a moment ago. */
  const viewNow: ViewAgents = (scope) => {
    store.lookAgain();
    return viewAgents(scope);
  };
  const findOwn = (name: string, scope: Scope) => store.findAgent(name, [scope]);

  async function put(definition: AgentDefinition, scope: Scope, view: AgentView, own: StoredAgent | null) {
    refuseFaults(definition, view);
    const agent = { definition, scope, hash: definitionHash(definition) };
    return store.putAgent(agent, own?.hash ?? null);
  }

  return {
    async create({ idempotency_key: _, ...agent }, scope = {}) {
      const view = await viewNow(scope);
      const taken = holderOf(agent.name, view) ?? ((await findOwn(agent.name, scope)) ? "another agent" : undefined);
      const stored = !taken && (await put({ ...agent, source: "api" }, scope, view, null));
      if (stored) return agent.name;
      throw new AppError("already_exists", `the name "${agent.name}" is taken by ${taken ?? "another agent"}`);
    },
    async replace(name, agent, scope = {}) {
      parseInput(AgentName, name, "name"); // it may be a new one
      const view = await viewNow(scope);
      const own = await findOwn(name, scope);
      if (!own) refuseHeld(name, view);
      if (await put({ ...agent, name, source: "api" }, scope, view, own)) return name;
      throw changedMeanwhile(name);
    },
    async update(name, patch, scope = {}) {
      const view = await viewNow(scope);
      const own = await findOwn(name, scope);
      if (!own) throw notOwn(name, view);
      const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
      if (await put({ ...own.definition, ...given }, scope, view, own)) return name;
      throw changedMeanwhile(name);
    },
    async delete(name, scope = {}) {
      if (!(await store.deleteAgent(name, scope))) throw notOwn(name, await viewNow(scope));
    },
  };
}

/** Who has a name that the API can't take. */
function holderOf(name: string, { fixed, origins }: AgentView): string | undefined {
  return fixed.has(name) ? "a built-in agent" : origins.get(name);
}

function refuseHeld(name: string, view: AgentView): void {
  const holder = holderOf(name, view);
  if (!holder) return;
  const way = view.fixed.has(name) ? "make one with another name" : "change that file";
  throw new AppError("not_writable", `the agent "${name}" belongs to ${holder}: ${way}`);
}

function notOwn(name: string, view: AgentView): AppError {
  refuseHeld(name, view);
  if (!view.agents.has(name)) return new AppError("agent_not_found", `there is no agent "${name}"`);
  const message = `the agent "${name}" belongs to a wider scope; PUT makes one of this scope's own`;
  return new AppError("not_writable", message);
}

function changedMeanwhile(name: string): AppError {
  return new AppError("version_conflict", `the agent "${name}" was changed by another writer; read it and try again`);
}

function refuseFaults(definition: AgentDefinition, { known }: AgentView): void {
  const faults = findFaults(definition, known);
  const [first] = faults;
  if (!first) return;
  const errors = faults.map(({ path, message }) => ({ loc: ["body", ...path], msg: message }));
  const summary = errors.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  throw new AppError(first.code, summary, { details: { errors } });
}
