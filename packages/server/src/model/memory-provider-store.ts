import { contentHash } from "../definition/content-hash.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import { type ProviderStore, providerKey } from "./provider-store.ts";

/** For tests, and for a server that keeps nothing. Hands out copies, as a database would. */
export function createMemoryProviderStore(): ProviderStore {
  const kept = new Map<string, ProviderDefinition>();
  return {
    list: async () => structuredClone([...kept.values()]),
    lookAgain: () => undefined,
    find: async (id, scope) => structuredClone(kept.get(providerKey({ id, scope })) ?? null),
    async put(provider, seen) {
      const key = providerKey(provider);
      if (contentHash(kept.get(key) ?? null) !== contentHash(seen)) return false;
      kept.set(key, structuredClone(provider));
      return true;
    },
    remove: async (id, scope) => kept.delete(providerKey({ id, scope })),
  };
}
