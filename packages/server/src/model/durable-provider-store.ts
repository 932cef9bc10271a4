import type { Storage, StoredDefinition } from "@cognition/thread";
import { contentHash } from "../definition/content-hash.ts";
import { createVersionedCache } from "../definition/versioned-cache.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import type { ProviderStore } from "./provider-store.ts";

export interface DurableProviderStoreOptions {
  readonly storage: Pick<Storage, "providers">;
  readonly now?: () => number;
  /** See `createVersionedCache`. */
  readonly maxAgeMs?: number;
}

/** Providers in the storage. Never with a key: a definition only names the variable that has it. */
export function createDurableProviderStore({ storage, ...options }: DurableProviderStoreOptions): ProviderStore {
  const { providers } = storage;
  const cache = createVersionedCache({
    list: providers.listDefinitions,
    version: providers.definitionVersion,
    ...options,
  });
  return {
    list: async () => (await cache.list()).map(toProvider),
    lookAgain: cache.lookAgain,
    async find(id, scope) {
      const found = await providers.findDefinition(id, scope);
      return found && toProvider(found);
    },
    async put(provider, seen) {
      const { id: name, scope } = provider;
      const row = { name, scope, definition: provider, hash: contentHash(provider) };
      const stored = await providers.putDefinition(row, seen && contentHash(seen));
      cache.changed();
      return stored;
    },
    async remove(id, scope) {
      const gone = await providers.deleteDefinition(id, scope);
      cache.changed();
      return gone;
    },
  };
}

function toProvider({ definition }: StoredDefinition): ProviderDefinition {
  return definition as ProviderDefinition;
}
