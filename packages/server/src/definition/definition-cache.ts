import type { Scope } from "@cognition/contract";
import type { DefinitionStore, StoredDefinition } from "@cognition/thread";
import { freeze } from "./freeze.ts";

/** What every message asks for, without asking the database each time. */
export interface DefinitionCache {
  /** Those of these scopes, or all. Shared by all who ask, so nobody can change them. */
  list(scopes?: readonly Scope[]): Promise<readonly StoredDefinition[]>;
  /** After a change of this node's own: what is asked for from now on has it. */
  changed(): void;
}

export interface DefinitionCacheOptions {
  readonly store: Pick<DefinitionStore, "listDefinitions" | "definitionVersion">;
  readonly now?: () => number;
  /** How long a change made on another node may stay unknown here. */
  readonly maxAgeMs?: number;
}

const MAX_AGE_MS = 1_000;
/** Lists that are kept, one for each scope that asked. */
const MAX_KEPT = 1_000;

/** Reads definitions when they have changed: one number is looked at, at most once in `maxAgeMs`, whoever asks. */
export function createDefinitionCache(options: DefinitionCacheOptions): DefinitionCache {
  const { store, now = () => performance.now(), maxAgeMs = MAX_AGE_MS } = options;
  const kept = new Map<string, Promise<readonly StoredDefinition[]>>();
  let version = -1;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;

  async function check(): Promise<void> {
    const began = now();
    const found = await store.definitionVersion();
    if (found !== version) kept.clear();
    version = found;
    checkedAt = began;
  }

  function load(key: string, scopes: readonly Scope[] | undefined): Promise<readonly StoredDefinition[]> {
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
    const loading = store.listDefinitions(scopes).then(freeze);
    kept.set(key, loading);
    loading.catch(() => {
      if (kept.get(key) === loading) kept.delete(key); // the next one who asks tries anew
    });
    return loading;
  }

  return {
    async list(scopes) {
      if (now() - checkedAt >= maxAgeMs) {
        checking ??= check().finally(() => {
          checking = undefined;
        });
        await checking;
      }
      const key = scopes ? JSON.stringify(scopes) : "";
      return kept.get(key) ?? load(key, scopes);
    },
    changed() {
      kept.clear();
      checkedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
