import type { Scope } from "@cognition/contract";
import type { SnapshotStore } from "@cognition/thread";
import { editTree } from "./edit-tree.ts";
import { toText } from "./held-folder.ts";
import { isSameEntry, type PathChange, splitPath } from "./path-change.ts";
import { createStoredTrees } from "./stored-trees.ts";

export interface WayBack {
  /** The files of the head: what has changed since is people's. */
  head: string;
  stood: string;
  to: string;
}

/**
 * The files to go back to, with what people have changed since the head: that is no part of what is undone. A path that
 * both would change is as it is to be, and told as a conflict; so is a file of theirs where a folder is to be, or in one
 * where a file is.
 */
export async function keepTheirs(
  store: SnapshotStore,
  scope: Scope,
  { head, stood, to }: WayBack,
): Promise<{ tree: string; conflicts: string[] }> {
  if (head === stood) return { tree: to, conflicts: [] };
  const trees = createStoredTrees(store, scope);
  const [theirs, undone] = await Promise.all([trees.diff(head, stood), trees.diff(head, to)]);
  const back = new Map(undone.map((change) => [change.path, change.after]));
  const filled = foldersOf(undone.filter(({ after }) => after !== null));
  const files = new Set(undone.filter(({ after }) => isFile(after)).map(({ path }) => path));
  const kept = theirs.filter(({ path, after }) => !back.has(path) && (after?.type === "tree" || !filled.has(path)));
  const { tree, objects } = await editTree(trees, to, kept);
  await store.putObjects(scope, objects);
  const others = theirs.filter(({ path, after }) =>
    back.has(path)
      ? !isSameEntry(after, back.get(path) ?? null)
      : isFile(after) && (filled.has(path) || isBelow(path, files)),
  );
  return { tree, conflicts: others.map(({ path }) => toText(path)) };
}

function isFile(entry: PathChange["after"]): boolean {
  return entry !== null && entry.type !== "tree";
}

function isBelow(path: string, files: ReadonlySet<string>): boolean {
  for (let at = splitPath(path).folder; at !== ""; at = splitPath(at).folder) if (files.has(at)) return true;
  return false;
}

/** All that these paths lie in: where people have removed it, it is there again. */
function foldersOf(changes: readonly PathChange[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const { path } of changes) {
    for (let at = splitPath(path).folder; at !== "" && !folders.has(at); at = splitPath(at).folder) folders.add(at);
  }
  return folders;
}
