import type { Scope } from "@cognition/contract";
import type { Lease } from "./run-store.ts";

/** Content under the name that `hashBlob` or `hashTree` gives it. */
export interface NewSnapshotObject {
  hash: string;
  kind: "blob" | "tree";
  content: Uint8Array;
  /** For a tree: `content` is an encoded change of that tree, not a whole one. The base must be stored. */
  base?: string;
}

export interface SavedSnapshot {
  thread_id: string;
  /** The tree of the workspace's root. */
  snapshot_id: string;
  /** Every object that is reachable from it and not from the snapshot where the workspace stood before. */
  objects: readonly string[];
  /** What storing them took, for the thread's own figure. */
  bytes: number;
  /** With one, an old epoch is refused with `stale_epoch`. */
  lease?: Lease;
  /** While a run is at work on the thread it is refused with `session_busy`. */
  unless_held?: boolean;
}

export interface SweepReport {
  objects: number;
  bytes: number;
  /** Checkpoints that no longer have their files, because the quota left no room for them. */
  forgotten: number;
}

/**
 * Workspaces as content-addressed trees. An object is named by what it holds and belongs to one scope: equal files of one
 * scope are stored once, another scope can't find them by their hash.
 */
export interface SnapshotStore {
  /** Those of the names that are not stored in the scope, each once. */
  missingObjects(scope: Scope, hashes: readonly string[]): Promise<string[]>;
  /** Durable when it resolves. What is stored already stays as it is. Gives the bytes that were added. */
  putObjects(scope: Scope, objects: readonly NewSnapshotObject[]): Promise<number>;
  /**
   * The contents, trees always whole. Rejects with `snapshot_not_found` if one is not there. With `max_bytes`, of the first
   * of them, as many as that holds, and at least one.
   */
  readObjects(
    scope: Scope,
    hashes: readonly string[],
    limit?: { max_bytes?: number },
  ): Promise<Map<string, Uint8Array>>;
  /**
   * Makes it the place where the thread's files stand, unless an object is missing (swept in between): then gives the
   * missing ones and changes nothing.
   */
  saveSnapshot(snapshot: SavedSnapshot): Promise<string[]>;
  /** Where the thread's files stand; null for a thread that never had any. */
  currentSnapshot(thread_id: string): Promise<string | null>;
  /** Bytes that the scope's objects take. */
  snapshotBytes(scope: Scope): Promise<number>;
  /** Those that have ever stored an object. */
  snapshotScopes(): Promise<Scope[]>;
  /**
   * Removes objects that no checkpoint and no workspace leads to any more and that are older than the grace (an hour if
   * not said; what is being stored right now is not led to yet). With `max_bytes`, also lets go of the files of the oldest
   * checkpoints, and removes them at once, until the rest fits; never of a head or where a workspace stands.
   */
  sweepSnapshots(sweep: { scope: Scope; grace_ms?: number; max_bytes?: number }): Promise<SweepReport>;
}
