import type { Generated } from "kysely";

/** Who may do how much, and which services are left alone. */
export interface AccessTables {
  api_keys: ApiKeyRow;
  rate_limits: RateLimitRow;
  circuit_breakers: CircuitBreakerRow;
}

export interface ApiKeyRow {
  pk: Generated<number>;
  id: string;
  prefix: string;
  /** SHA-256 of the whole key. */
  hash: string;
  name: string;
  /** Null for a key that is bound to none. */
  scope: string | null;
  admin: number;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}

interface RateLimitRow {
  scope: string;
  /** When the bucket will be full again, in microseconds by the database's clock. */
  full_at: number;
}

interface CircuitBreakerRow {
  scope: string;
  name: string;
  failures: number;
  /** By the database's clock. */
  open_until: number;
}
