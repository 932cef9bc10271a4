import { AppError, type Scope } from "@cognition/contract";
import type { SnapshotStore } from "@cognition/thread";
import { toText } from "./held-folder.ts";
import type { PathChange, PathState } from "./path-change.ts";
import type { WorkspaceThread } from "./workspace-thread.ts";

export interface RestoreParts {
  store: Pick<SnapshotStore, "readObjects">;
  thread: WorkspaceThread;
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

/** Files that are fetched and written together. */
const PORTION = 32;

/** Where the folder stands at each change; rejects with `file_conflict` where it has something nobody knows of. */
export async function checkRestore({ thread }: RestoreParts, { root, changes }: Restore): Promise<PathState[]> {
  const states = await thread.ask("check", { root, changes });
  const files = changes.filter((_, i) => states[i] === "other").map(({ path }) => toText(path));
  if (files.length === 0) return states;
  throw new AppError(
    "file_conflict",
    `${files.length} of the files to restore were changed by others since: ${files.slice(0, 5).join(", ")}` +
      `${files.length > 5 ? " …" : ""}. Nothing was changed. Send force: true to overwrite them.`,
    { details: { files } },
  );
}

/**
 * Brings the folder from one side of the changes to the other, in place: what no snapshot holds (ignored files, a mount)
 * stays. Doing it again, or on what is half done, comes to the same.
 */
export async function applyRestore({ store, thread }: RestoreParts, restore: Restore): Promise<void> {
  const { scope, root, changes, source, aside } = restore;
  const states = await thread.ask("check", { root, changes });
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
  for (let i = 0; i < files.length; i += PORTION) {
    const portion = files.slice(i, i + PORTION);
    const contents = await store.readObjects(
      scope,
      portion.flatMap(({ after }) => after?.hash ?? []),
    );
    await thread.ask("write", { root, changes: portion, contents });
  }
  await thread.ask("setModes", { root, changes: changes.filter(isTree).toReversed() });
}

/** What could not be cloned, because the other folder has it otherwise or not at all. */
async function cloneFiles(
  thread: WorkspaceThread,
  { root, source, changes }: { root: string; source: string; changes: PathChange[] },
): Promise<PathChange[]> {
  const cloned = new Set(await thread.ask("clone", { root, source, changes }));
  return changes.filter(({ path }) => !cloned.has(path));
}
