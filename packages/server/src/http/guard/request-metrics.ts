import type { Guard } from "../guard.ts";

export interface RequestCounter {
  request(request: { route: string; method: string; status: number; seconds: number }): void;
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** By the route's name, never by the path: a path has ids, and every one would be a series of its own for ever. */
export function createRequestMetrics({ counter, now }: { counter: RequestCounter; now: () => number }): Guard {
  const arrived = new WeakMap<URL, number>();
  return {
    before: ({ url }) => {
      arrived.set(url, now());
      return undefined;
    },
    after: ({ url, route = "none", method }, { status }) => {
      const seconds = (now() - (arrived.get(url) ?? now())) / 1000;
      counter.request({ route, method: METHODS.has(method) ? method : "other", status, seconds });
    },
  };
}
