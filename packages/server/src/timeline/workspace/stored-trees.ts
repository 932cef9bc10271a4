import type { Scope } from "@cognition/contract";
import { decodeTree, type SnapshotStore, type TreeEntry } from "@cognition/thread";
import { isSameEntry, type PathChange } from "./path-change.ts";

/** Folders as they are stored in one scope. */
export interface StoredTrees {
  entries(hashes: readonly string[]): Promise<Map<string, TreeEntry[]>>;
  /**
   * What makes the second of the first, in the order of paths. Reads only folders that differ, level by level. What is
   * there in the second without being stored is as nobody knows: nothing is said of it, nor of what is in it.
   */
  diff(from: string, to: string): Promise<PathChange[]>;
}

export function createStoredTrees(store: Pick<SnapshotStore, "readObjects">, scope: Scope): StoredTrees {
  async function entries(hashes: readonly string[]): Promise<Map<string, TreeEntry[]>> {
    const contents = await store.readObjects(scope, hashes);
    return new Map([...contents].map(([hash, content]) => [hash, decodeTree(content, hash)]));
  }

  async function diff(from: string, to: string): Promise<PathChange[]> {
    const changes: PathChange[] = [];
    let pairs: Pair[] = [{ path: "", from, to }];
    while (pairs.length > 0) {
      const trees = await entries([
        ...new Set(pairs.flatMap(({ from, to }) => [from, to].filter((hash) => hash !== null))),
      ]);
      pairs = pairs.flatMap((pair) => compare(pair, trees, changes));
    }
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  return { entries, diff };
}

/** Two folders in the same place; null where there is none. */
interface Pair {
  path: string;
  from: string | null;
  to: string | null;
}

function compare({ path, from, to }: Pair, trees: ReadonlyMap<string, TreeEntry[]>, changes: PathChange[]): Pair[] {
  if (from === to) return [];
  const below: Pair[] = [];
  const byName = (hash: string | null) => new Map((trees.get(hash ?? "") ?? []).map((entry) => [entry.name, entry]));
  const [old, fresh] = [byName(from), byName(to)];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    const after = fresh.get(name) ?? null;
    if (after?.type === "unstored") continue;
    const change = { path: `${path}${name}`, before: storedOf(old.get(name)), after };
    if (!isSameEntry(change.before, change.after)) changes.push(change);
    const pair = { path: `${path}${name}/`, from: treeOf(change.before), to: treeOf(change.after) };
    if (pair.from !== pair.to) below.push(pair);
  }
  return below;
}

function storedOf(entry: TreeEntry | undefined): TreeEntry | null {
  return entry && entry.type !== "unstored" ? entry : null;
}

function treeOf(entry: TreeEntry | null): string | null {
  return entry?.type === "tree" ? entry.hash : null;
}
