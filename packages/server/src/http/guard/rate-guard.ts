import { AppError } from "@cognition/contract";
import { type Guard, SCOPELESS_ROUTES } from "../guard.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** Probes and metrics are the operator's own and never refused: a busy server must not look dead. */
export function createRateGuard(limiter: RateLimiter): Guard {
  return {
    admit: async ({ route, scope }) => {
      if (SCOPELESS_ROUTES.has(route)) return undefined;
      const verdict = await limiter.take(scope);
      if (verdict.allowed) return undefined;
      const retry_after_s = Math.ceil(verdict.retry_after_ms / 1000);
      throw new AppError(
        "rate_limited",
        `Too many requests${scope === undefined ? "" : " of this scope"}. Nothing was done; try again in ${retry_after_s} s.`,
        { details: { retry_after_s } },
      );
    },
  };
}
