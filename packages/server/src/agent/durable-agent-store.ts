import type { RevisionStore, Storage, StoredDefinition } from "@cognition/thread";
import { freeze } from "../definition/freeze.ts";
import { createVersionedCache } from "../definition/versioned-cache.ts";
import { forgetOldest } from "../forget-oldest.ts";
import type { AgentDefinition, ResolvedAgent } from "./agent-definition.ts";
import type { AgentStore, StoredAgent } from "./agent-store.ts";

export interface DurableAgentStoreOptions {
  readonly storage: Pick<Storage, "agents" | "revisions">;
  readonly now?: () => number;
  /** See `createVersionedCache`. */
  readonly maxAgeMs?: number;
}

/** A revision never changes, so that it is read once. Those of runs that begin now are few. */
const REVISIONS_KEPT = 500;

/** Agents in the storage. Lists may lag behind other nodes by `maxAgeMs`; a write always compares with what is stored. */
export function createDurableAgentStore({ storage, ...options }: DurableAgentStoreOptions): AgentStore {
  const { agents, revisions } = storage;
  const cache = createVersionedCache({
    list: async (scopes) => (await agents.listDefinitions(scopes)).map(toAgent),
    version: agents.definitionVersion,
    ...options,
  });
  const findRevision = rememberRevisions(revisions);

  return {
    listAgents: cache.list,
    lookAgain: cache.lookAgain,
    async findAgent(name, scopes) {
      for (const scope of scopes) {
        const found = await agents.findDefinition(name, scope);
        if (found) return toAgent(found);
      }
      return null;
    },
    async putAgent({ definition, scope, hash }, expected) {
      const stored = await agents.putDefinition({ name: definition.name, scope, definition, hash }, expected);
      cache.changed();
      return stored;
    },
    async deleteAgent(name, scope) {
      const gone = await agents.deleteDefinition(name, scope);
      cache.changed();
      return gone;
    },
    saveRevision: (agent, scope) => revisions.saveRevision({ revision: agent.revision, scope, agent }),
    findRevision,
  };
}

function toAgent({ definition, scope, hash }: StoredDefinition): StoredAgent {
  return { definition: definition as AgentDefinition, scope, hash };
}

function rememberRevisions(revisions: RevisionStore): AgentStore["findRevision"] {
  const kept = new Map<string, ResolvedAgent>();
  return async (revision) => {
    const known = kept.get(revision);
    if (known) return known;
    const found = (await revisions.findRevision(revision)) as ResolvedAgent | null;
    if (!found) return null;
    forgetOldest(kept, REVISIONS_KEPT);
    kept.set(revision, freeze(found));
    return found;
  };
}
