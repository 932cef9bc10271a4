import type { Scope } from "@cognition/contract";
import { scopeKey } from "../scope-key.ts";

/** How many of a node's runs are each scope's. Asked at every claim, so it is counted rather than looked up. */
export interface ScopeShares {
  /** One more; gives what takes it away again. */
  enter(scope: Scope): () => void;
  /** The most that one scope has. */
  largest(): number;
  /** The scopes that have so many or more. */
  from(runs: number): Scope[];
}

export function createScopeShares(): ScopeShares {
  const shares = new Map<string, { scope: Scope; runs: number }>();

  return {
    enter: (scope) => {
      const key = scopeKey(scope);
      const share = shares.get(key) ?? { scope, runs: 0 };
      shares.set(key, share);
      share.runs++;
      return () => {
        if (--share.runs === 0) shares.delete(key);
      };
    },
    largest: () => Math.max(0, ...Array.from(shares.values(), ({ runs }) => runs)),
    from: (runs) => [...shares.values()].flatMap((share) => (share.runs >= runs ? [share.scope] : [])),
  };
}
