import type { Scope } from "@cognition/contract";
import type { SnapshotStore, TreeEntry } from "@cognition/thread";
import { editTree } from "./edit-tree.ts";
import { toText } from "./held-folder.ts";
import { isSameEntry, type PathChange } from "./path-change.ts";
import { createStoredTrees } from "./stored-trees.ts";

export interface WayBack {
  /** The files of the head: what has changed since is people's. */
  head: string;
  stood: string;
  to: string;
}

/**
 * The files to go back to, with what people have changed since the head: that is no part of what is undone. A path that
 * both would change is as it is to be, and told as a conflict.
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
  const kept = theirs.filter((change) => !back.has(change.path) && !takesAlong(change, back));
  const { tree, objects } = await editTree(trees, to, kept);
  await store.putObjects(scope, objects);
  const others = theirs.filter(({ path, after }) => back.has(path) && !isSameEntry(after, back.get(path) ?? null));
  return { tree, conflicts: others.map(({ path }) => toText(path)) };
}

/** A folder that they have removed, and in which something is to be. */
function takesAlong({ path, after }: PathChange, back: ReadonlyMap<string, TreeEntry | null>): boolean {
  if (after?.type === "tree") return false;
  return [...back].some(([below, entry]) => entry !== null && below.startsWith(`${path}/`));
}
