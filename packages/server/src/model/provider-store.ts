import type { ProviderDefinition } from "./provider-definition.ts";

/** Where the definitions made through the API are kept. */
export interface ProviderStore {
  list(): Promise<readonly ProviderDefinition[]>;
  /** Stores it in place of the one with the same id and scope. */
  put(provider: ProviderDefinition): Promise<void>;
  /** False if there was none. */
  remove(id: string, scope: Readonly<Record<string, string>>): Promise<boolean>;
}

export function createMemoryProviderStore(): ProviderStore {
  const kept = new Map<string, ProviderDefinition>();
  return {
    list: async () => [...kept.values()],
    put: async (provider) => {
      kept.set(providerKey(provider), provider);
    },
    remove: async (id, scope) => kept.delete(providerKey({ id, scope })),
  };
}

/** A provider is one by its id within its scope. */
export function providerKey({ id, scope }: Pick<ProviderDefinition, "id" | "scope">): string {
  return JSON.stringify([id, Object.entries(scope).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
