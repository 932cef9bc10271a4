import { AppError, type Scope } from "@cognition/contract";
import type { SnapshotStore } from "@cognition/thread";
import type { ScanLimits } from "./workspace-request.ts";
import type { WorkspaceThread } from "./workspace-thread.ts";

export interface CaptureParts {
  store: SnapshotStore;
  thread: WorkspaceThread;
  limits: ScanLimits;
  /** What the snapshots of one scope may take. */
  quota_bytes: number;
}

export interface Capture {
  scope: Scope;
  /** The folder's path in bytes. */
  root: string;
  /** What it holds is not looked for: a snapshot that is stored for sure or, for files only, what was there before. */
  base?: string;
  /** Folders too, unless it is said: one is stored as a change of what it was in `base`. */
  only?: "files";
}

export interface Captured {
  tree: string;
  /** The names of what `base` does not hold. */
  objects: string[];
  /** What storing them took. */
  bytes: number;
}

/** A file that is written all the time is taken as one of its moments; so often it may change under our hands. */
const ATTEMPTS = 5;

/** Stores the folder as it is. A folder that is as it was costs a look at it, and nothing is written. */
export async function captureFolder(parts: CaptureParts, { scope, ...place }: Capture): Promise<Captured> {
  const { store, thread, limits } = parts;
  const { root, base } = place;
  let bytes = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { tree, objects } = await thread.ask("scan", { ...place, limits });
    if (tree === base || objects.length === 0) return { tree, objects: [], bytes };
    try {
      const missing = await store.missingObjects(scope, objects);
      const stored = await storeObjects(parts, scope, root, missing);
      bytes += stored.bytes;
      if (stored.whole) return { tree, objects, bytes };
    } finally {
      await thread.ask("settle", { root });
    }
  }
  const message =
    "The files of the workspace kept changing while they were being stored; this step has no snapshot of its own.";
  throw new AppError("storage_busy", message);
}

async function storeObjects(
  parts: CaptureParts,
  scope: Scope,
  root: string,
  missing: readonly string[],
): Promise<{ bytes: number; whole: boolean }> {
  let bytes = 0;
  for (let at = 0; at < missing.length; ) {
    const read = await parts.thread.ask("read", { root, hashes: missing.slice(at) });
    if (!read) return { bytes, whole: false };
    await makeRoom(
      parts,
      scope,
      read.reduce((sum, { content }) => sum + content.length, 0),
    );
    bytes += await parts.store.putObjects(scope, read);
    at += read.length;
  }
  return { bytes, whole: true };
}

/** Whoever stores files of the same scope meanwhile may take the room that was made: then more is made. */
async function makeRoom({ store, quota_bytes }: CaptureParts, scope: Scope, needed: number): Promise<void> {
  for (let made = true; made; ) {
    if ((await store.snapshotBytes(scope)) + needed <= quota_bytes) return;
    const { objects } = await store.sweepSnapshots({ scope, max_bytes: Math.max(0, quota_bytes - needed) });
    made = objects > 0;
  }
  const left = quota_bytes - (await store.snapshotBytes(scope));
  if (needed <= left) return;
  throw new AppError(
    "limit_exceeded",
    `The files of the workspace need ${needed} bytes of snapshots, and ${Math.max(0, left)} of ${quota_bytes} are left. ` +
      "The files themselves are untouched; this step can't be gone back to with its files.",
    { details: { limit: "snapshot_quota", max: quota_bytes } },
  );
}
