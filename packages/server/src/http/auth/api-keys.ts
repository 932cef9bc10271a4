import { type ApiKey, CreateApiKey, parseInput } from "@cognition/contract";
import type { ApiKeyStore } from "@cognition/thread";
import type { z } from "zod";
import { hashApiKey, newApiKey } from "./api-key-text.ts";

/** What `cognition keys` does. */
export interface ApiKeys {
  /** `key` is in no other answer and in no table: whoever loses it makes a new one. */
  create(input: z.input<typeof CreateApiKey>): Promise<{ key: string; api_key: ApiKey }>;
  /** Newest first, ended ones too. */
  list(page?: { limit?: number; offset?: number }): Promise<ApiKey[]>;
  /** By id or by how the key begins; from the next request on. */
  revoke(id_or_prefix: string): Promise<ApiKey>;
}

export function createApiKeys(store: ApiKeyStore): ApiKeys {
  return {
    create: async (input) => {
      const wanted = parseInput(CreateApiKey, input, "api_key");
      const { key, prefix } = newApiKey();
      return { key, api_key: await store.createApiKey({ ...wanted, prefix, hash: hashApiKey(key) }) };
    },
    list: (page) => store.listApiKeys(page),
    revoke: (id_or_prefix) => store.revokeApiKey(id_or_prefix),
  };
}
