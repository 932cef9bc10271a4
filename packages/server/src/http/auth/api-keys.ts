import { type ApiKey, CreateApiKey, parseInput } from "@cognition/contract";
import type { ApiKeyStore } from "@cognition/thread";
import type { z } from "zod";
import { findPrefix, hashApiKey, newApiKey } from "./api-key-text.ts";

/** What `cognition keys` does. */
export interface ApiKeys {
  /** `key` is in no other answer and in no table: whoever loses it makes a new one. */
  create(input: z.input<typeof CreateApiKey>): Promise<{ key: string; api_key: ApiKey }>;
  /** Newest first, ended ones too. */
  list(page?: { limit?: number; offset?: number }): Promise<ApiKey[]>;
  /** By id, by how the key begins or by the whole key, as it was found where it should not be; from the next request on, and soon for open streams. */
  revoke(which: string): Promise<ApiKey>;
}

export function createApiKeys(store: ApiKeyStore): ApiKeys {
  return {
    create: async (input) => {
      const wanted = parseInput(CreateApiKey, input, "api_key");
      const { key, prefix } = newApiKey();
      return { key, api_key: await store.createApiKey({ ...wanted, prefix, hash: hashApiKey(key) }) };
    },
    list: (page) => store.listApiKeys(page),
    revoke: (which) => store.revokeApiKey(findPrefix(which) ?? which),
  };
}
