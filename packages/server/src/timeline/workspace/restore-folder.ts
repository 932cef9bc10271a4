import type { Scope } from "@cognition/contract";
import type { SnapshotStore } from "@cognition/thread";
import type { PathChange, PathState } from "./path-change.ts";
import type { ScanLimits } from "./workspace-request.ts";
import type { WorkspaceThread } from "./workspace-thread.ts";

export interface RestoreParts {
  store: Pick<SnapshotStore, "readObjects">;
  thread: WorkspaceThread;
  limits: Pick<ScanLimits, "never">;
}

export interface Restore {
  scope: Scope;
  /** The folder's path in bytes. */
  root: string;
  changes: readonly PathChange[];
  /** Another folder, whose files share their blocks with the copies where the file system can do that. */
  source?: string;
  /** What is in the way and can't be written over moves to its name with this added; left out, it is a conflict. */
  aside?: string;
}

/** Files that are fetched and written together: so many, and no more than that in memory, where they are twice. */
const PORTION = 512;
const PORTION_BYTES = 16 * 1024 * 1024;

/**
 * Brings the folder from one side of the changes to the other, in place: what no snapshot holds (ignored files, a mount)
 * stays. Doing it again, or on what is half done, comes to the same.
 */
export async function applyRestore(parts: RestoreParts, restore: Restore): Promise<void> {
  const { store, thread } = parts;
  const { scope, root, changes, source, aside } = restore;
  const states = await lookAt(parts, restore);
  const open = changes.filter((_, i) => states[i] !== "after");
  const gone = open.filter(({ before, after }) => after === null || (before !== null && before.type !== after.type));
  await thread.ask("remove", { root, changes: gone.toReversed() });
  if (aside !== undefined) {
    const kept = open.filter(({ after }) => after !== null);
    await thread.ask("clearWay", { root, changes: kept, suffix: aside });
  }
  const isTree = (change: PathChange) => change.after?.type === "tree";
  await thread.ask("makeFolders", { root, changes: open.filter(isTree) });
  const all = open.filter(({ after }) => after !== null && after.type !== "tree");
  const files = source === undefined ? all : await cloneFiles(thread, { root, source, changes: all });
  for (let i = 0; i < files.length; ) {
    const next = files.slice(i, i + PORTION);
    const hashes = next.flatMap(({ after }) => after?.hash ?? []);
    const contents = await store.readObjects(scope, hashes, { max_bytes: PORTION_BYTES });
    const missing = hashes.findIndex((hash) => !contents.has(hash));
    const portion = missing < 0 ? next : next.slice(0, missing);
    await thread.ask("write", { root, changes: portion, contents });
    i += portion.length;
  }
  await thread.ask("setModes", { root, changes: changes.filter(isTree).toReversed() });
}

/** Where the folder stands at each change. What is the server's own is as it is to be: a snapshot of before it was left out must not bring back an old database. */
export async function lookAt({ thread, limits }: LookParts, restore: Place): Promise<PathState[]> {
  const { root, source = root, changes } = restore;
  const states = await thread.ask("check", { root, changes });
  const isOurs = (path: string) => [root, source].some((folder) => limits.never?.includes(`${folder}/${path}`));
  return states.map((state, i) => (isOurs((changes[i] as PathChange).path) ? "after" : state));
}

type LookParts = Pick<RestoreParts, "thread" | "limits">;
type Place = Pick<Restore, "root" | "source" | "changes">;

/** What could not be cloned, because the other folder has it otherwise or not at all. */
async function cloneFiles(
  thread: WorkspaceThread,
  { root, source, changes }: { root: string; source: string; changes: PathChange[] },
): Promise<PathChange[]> {
  const cloned = new Set(await thread.ask("clone", { root, source, changes }));
  return changes.filter(({ path }) => !cloned.has(path));
}
