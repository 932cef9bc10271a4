import type { Scope } from "@cognition/contract";

/** A bucket of `burst` requests that fills again by `per_second`. */
export interface RateLimit {
  per_second: number;
  burst: number;
}

export type RateVerdict = { allowed: true } | { allowed: false; retry_after_ms: number };

/** Rates that all processes on one storage share. */
export interface RateLimitStore {
  /**
   * Takes one request out of the scope's bucket, by the database's clock: however many ask at once, and on however many
   * nodes, no more are allowed than the bucket holds. A refused one takes nothing. Undefined is a scope of its own.
   */
  takeRequest(scope: Scope | undefined, limit: RateLimit): Promise<RateVerdict>;
  /** Forgets buckets that are full: a missing one is the same. */
  pruneRateLimits(): Promise<number>;
}
