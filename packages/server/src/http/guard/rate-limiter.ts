import type { Scope } from "@cognition/contract";
import type { RateLimit, RateLimitStore, RateVerdict } from "@cognition/thread";
import { scopeKey } from "../../scope-key.ts";

/** How often a scope may ask. Undefined is a scope of its own. */
export interface RateLimiter {
  /** Allows no more than the limit's burst at once and its rate in the long run; a refused request takes nothing. */
  take(scope: Scope | undefined): Promise<RateVerdict>;
}

/** Past this many scopes, those whose buckets are full again are forgotten: they are as good as new. */
const KEPT_SCOPES = 10_000;

/** For one node. `now` in milliseconds, never going back. */
export function createMemoryRateLimiter({ per_second, burst }: RateLimit, now: () => number): RateLimiter {
  const cost = 1000 / per_second;
  const fullAt = new Map<string, number>();

  function forgetFull(at: number): void {
    for (const [key, full] of fullAt) if (full <= at) fullAt.delete(key);
  }

  return {
    take: async (scope) => {
      const at = now();
      const key = scopeKey(scope);
      const full = Math.max(fullAt.get(key) ?? at, at);
      const wait = full - at - cost * (burst - 1);
      // A hair above zero is a sum of fractions, not a wait.
      if (wait > 1e-6) return { allowed: false, retry_after_ms: Math.ceil(wait) };
      if (fullAt.size >= KEPT_SCOPES && !fullAt.has(key)) forgetFull(at);
      fullAt.set(key, full + cost);
      return { allowed: true };
    },
  };
}

/** For many nodes on one storage: a round trip for each request. */
export function createSharedRateLimiter(limit: RateLimit, store: RateLimitStore): RateLimiter {
  return { take: (scope) => store.takeRequest(scope, limit) };
}
