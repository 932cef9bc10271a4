import type { ApiKey, Scope } from "@cognition/contract";

/** A key as it is kept: how it begins, and a hash from which nobody gets the rest. */
export interface NewApiKey {
  prefix: string;
  hash: string;
  name: string;
  /** Null for a key that may act for any scope. */
  scope: Scope | null;
  admin: boolean;
  expires_at: string | null;
}

export interface ApiKeyStore {
  /** Rejects with `already_exists` where the prefix is taken. */
  createApiKey(key: NewApiKey): Promise<ApiKey>;
  /** With its hash, whether revoked or expired or neither: that is the caller's to judge. */
  findApiKey(prefix: string): Promise<{ api_key: ApiKey; hash: string } | undefined>;
  /** Newest first, ended ones too. */
  listApiKeys(page?: { limit?: number; offset?: number }): Promise<ApiKey[]>;
  /** By id or prefix. For good; again is harmless and keeps the first time. Rejects with `api_key_not_found`. */
  revokeApiKey(id_or_prefix: string): Promise<ApiKey>;
  /** Notes that the key was used now. A key that is not there is no error: it may be gone by the time this is told. */
  touchApiKey(id: string): Promise<void>;
}
