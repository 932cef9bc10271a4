import { isAppError } from "@cognition/contract";
import type { BreakerStore, OpenBreaker } from "@cognition/thread";
import type { BreakerChange, CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { type Named, providerKey } from "./provider-store.ts";

export interface SharedBreakersOptions {
  readonly store: BreakerStore;
  readonly breakerOf: (provider: Named) => CircuitBreaker;
  readonly now: () => number;
  /** How long what another node found out may stay unknown here. */
  readonly maxAgeMs?: number | undefined;
  readonly onError: (error: unknown) => void;
}

/** What the nodes on one storage know of the providers together. */
export interface SharedBreakers {
  /** Brings this node's breakers to what others have found out; asks the storage at most once in `maxAgeMs`. */
  look(): Promise<void>;
  /** Tells the others, in order and without a wait: a call that has its answer does not wait for the storage. */
  tell(provider: Named, change: BreakerChange): void;
}

const MAX_AGE_MS = 1_000;

/**
 * Written only when a breaker of this node opens or closes. A storage that can't be asked is no reason to call no model:
 * each node then minds its own breakers, as one alone does.
 */
export function createSharedBreakers(options: SharedBreakersOptions): SharedBreakers {
  const { store, breakerOf, now, maxAgeMs = MAX_AGE_MS, onError } = options;
  let known = new Map<string, OpenBreaker>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  let telling = Promise.resolve();

  function report(error: unknown): void {
    if (!isAppError(error, "storage_closed")) onError(error); // a node that ends has nothing more to tell
  }

  async function write({ id: name, scope }: Named, change: BreakerChange): Promise<void> {
    if (change.state === "closed") return store.closeBreaker({ name, scope });
    const { open_ms, failures } = change;
    return store.openBreaker({ name, scope, open_ms, failures });
  }

  async function read(): Promise<void> {
    lookedAt = now();
    const open = new Map((await store.listOpenBreakers()).map((one) => [keyOf(one), one]));
    const before = known;
    known = open;
    for (const one of open.values()) breakerOf(providerOf(one)).openedElsewhere(one.open_ms, one.failures);
    // Only what was seen open can be seen to have been closed: what this node has just opened may not be there yet.
    for (const [key, one] of before) if (!open.has(key)) breakerOf(providerOf(one)).closedElsewhere();
  }

  return {
    async look() {
      if (now() - lookedAt < maxAgeMs) return looking;
      looking ??= read()
        .catch(report)
        .finally(() => {
          looking = undefined;
        });
      return looking;
    },
    tell(provider, change) {
      known.delete(providerKey(provider));
      telling = telling.then(() => write(provider, change)).catch(report);
    },
  };
}

function providerOf({ name, scope }: OpenBreaker): Named {
  return { id: name, scope };
}

function keyOf(breaker: OpenBreaker): string {
  return providerKey(providerOf(breaker));
}
