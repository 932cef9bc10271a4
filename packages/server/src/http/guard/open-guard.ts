import { AppError } from "@cognition/contract";
import { scopeKey } from "../../scope-key.ts";
import { type Guard, SCOPELESS_ROUTES } from "../guard.ts";

/** Nobody knows when one of them ends. */
const RETRY_AFTER_S = 5;

/**
 * A stream is open for as long as its reader likes, an answer may be waited for, a body sent slowly: so many of them one scope may
 * have open on this node, or nothing would be left of it for the others. Whoever has no scope shares the node with nobody.
 */
export function createOpenGuard(max: number): Guard {
  const open = new Map<string, number>();

  function close(key: string): void {
    const left = (open.get(key) ?? 1) - 1;
    if (left > 0) open.set(key, left);
    else open.delete(key);
  }

  return {
    admit: ({ route, scope, onEnd }) => {
      if (scope === undefined || SCOPELESS_ROUTES.has(route)) return undefined;
      const key = scopeKey(scope);
      const count = open.get(key) ?? 0;
      if (count >= max) throw tooMany(max);
      open.set(key, count + 1);
      onEnd(() => close(key));
      return undefined;
    },
  };
}

function tooMany(max: number): AppError {
  return new AppError(
    "rate_limited",
    `This scope has ${max} requests open on this node, its event streams among them, and may have no more (rate_limit.open). Nothing was done; end some of them.`,
    { details: { limit: "open_requests", max, retry_after_s: RETRY_AFTER_S } },
  );
}
