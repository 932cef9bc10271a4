import type { Scope } from "@cognition/contract";
import { forgetOldest } from "../forget-oldest.ts";
import { freeze } from "./freeze.ts";

/** What every message asks for, without asking the database each time. */
export interface VersionedCache<T> {
  /** Those of these scopes, or all. Shared by all who ask, so nobody can change them. */
  list(scopes?: readonly Scope[]): Promise<readonly T[]>;
  /** After a change of this node's own: what is asked for from now on has it. */
  changed(): void;
  /** Whatever other nodes have changed up to now is in what is asked for next. For who misses something in what he was given. */
  lookAgain(): void;
}

export interface VersionedCacheOptions<T> {
  readonly list: (scopes?: readonly Scope[]) => Promise<readonly T[]>;
  /** Rises with every change of what is listed. */
  readonly version: () => Promise<number>;
  readonly now?: (() => number) | undefined;
  /** How long a change made on another node may stay unknown here. */
  readonly maxAgeMs?: number | undefined;
}

const MAX_AGE_MS = 1_000;
/** Lists that are kept, one for each scope that asked. */
const MAX_KEPT = 1_000;

/** Reads lists again when they have changed: one number is looked at, at most once in `maxAgeMs`, whoever asks. */
export function createVersionedCache<T>(options: VersionedCacheOptions<T>): VersionedCache<T> {
  const { now = () => performance.now(), maxAgeMs = MAX_AGE_MS } = options;
  const kept = new Map<string, Promise<readonly T[]>>();
  let version = -1;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;

  function check(): Promise<void> {
    const began = now();
    const mine: Promise<void> = options.version().then(
      (found) => {
        if (checking !== mine) return; // somebody wanted a later look
        if (found !== version) kept.clear();
        version = found;
        checkedAt = began;
        checking = undefined;
      },
      (error: unknown) => {
        if (checking === mine) checking = undefined;
        throw error;
      },
    );
    return mine;
  }

  function load(key: string, scopes: readonly Scope[] | undefined): Promise<readonly T[]> {
    forgetOldest(kept, MAX_KEPT);
    const loading = options.list(scopes).then(freeze);
    kept.set(key, loading);
    loading.catch(() => {
      if (kept.get(key) === loading) kept.delete(key); // the next one who asks tries anew
    });
    return loading;
  }

  return {
    async list(scopes) {
      if (now() - checkedAt >= maxAgeMs) {
        checking ??= check();
        await checking;
      }
      const key = scopes ? JSON.stringify(scopes) : "";
      return kept.get(key) ?? load(key, scopes);
    },
    changed() {
      kept.clear();
      checkedAt = Number.NEGATIVE_INFINITY;
    },
    lookAgain() {
      checking = undefined;
      checkedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
