import type { Scope } from "@cognition/contract";
import type { ResolvedAgent } from "./agent-definition.ts";
import type { AgentStore, StoredAgent } from "./agent-store.ts";
import { scopeKey } from "./scope-chain.ts";

/** For tests, and for a server that keeps nothing. Hands out copies, as a database would. */
export function createMemoryAgentStore(): AgentStore {
  const agents = new Map<string, StoredAgent>();
  const revisions = new Map<string, ResolvedAgent>();

  return {
    async listAgents(scopes) {
      const wanted = new Set(scopes.map(scopeKey));
      return structuredClone([...agents.values()].filter(({ scope }) => wanted.has(scopeKey(scope))));
    },
    async findAgent(name, scopes) {
      const key = scopes.map((scope) => agentKey(name, scope)).find((candidate) => agents.has(candidate));
      return structuredClone(key === undefined ? null : (agents.get(key) ?? null));
    },
    async putAgent(agent, expected) {
      const key = agentKey(agent.definition.name, agent.scope);
      if ((agents.get(key)?.hash ?? null) !== expected) return false;
      agents.set(key, structuredClone(agent));
      return true;
    },
    async deleteAgent(name, scope) {
      return agents.delete(agentKey(name, scope));
    },
    async saveRevision(agent) {
      if (!revisions.has(agent.revision)) revisions.set(agent.revision, structuredClone(agent));
    },
    async findRevision(revision) {
      return structuredClone(revisions.get(revision) ?? null);
    },
  };
}

function agentKey(name: string, scope: Scope): string {
  return JSON.stringify([name, scopeKey(scope)]);
}
