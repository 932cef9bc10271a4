import { z } from "zod";
import { SandboxBackend } from "./config.ts";

export const CircuitState = z.enum(["closed", "open", "half_open"]);
export type CircuitState = z.infer<typeof CircuitState>;

export const CircuitBreaker = z.strictObject({
  state: CircuitState,
  total_calls: z.int().nonnegative(),
  failed_calls: z.int().nonnegative(),
  consecutive_failures: z.int().nonnegative(),
});
export type CircuitBreaker = z.infer<typeof CircuitBreaker>;

export const StorageHealth = z.strictObject({
  backend: z.string(),
  ok: z.boolean(),
  latency_ms: z.number().nonnegative().nullable(),
});
export type StorageHealth = z.infer<typeof StorageHealth>;

/**
 * `ok`, `degraded` where something besides the storage fails, `unhealthy` where the storage does. Where callers must show
 * who they are, only an administrator sees the counts and warnings: they tell of everybody's work.
 */
export const Health = z.strictObject({
  status: z.enum(["ok", "degraded", "unhealthy"]),
  version: z.string(),
  uptime_s: z.number().nonnegative(),
  storage: StorageHealth,
  sandbox: z.strictObject({ backend: SandboxBackend, ok: z.boolean() }),
  active_runs: z.int().nonnegative().optional(),
  sessions: z.int().nonnegative().optional(),
  warnings: z.array(z.string()).optional(),
  circuit_breakers: z.record(z.string(), CircuitBreaker),
});
export type Health = z.infer<typeof Health>;

export const Readiness = z.strictObject({ ready: z.boolean(), reasons: z.array(z.string()) });
export type Readiness = z.infer<typeof Readiness>;
