import { encodeTree, hashTree, type NewSnapshotObject, sortEntries, type TreeEntry } from "@cognition/thread";
import type { PathChange } from "./path-change.ts";
import type { StoredTrees } from "./stored-trees.ts";

/** The tree with what the changes put at their paths, and the folders that are new in it. Nothing else is looked at. */
export async function editTree(
  trees: StoredTrees,
  tree: string,
  changes: readonly PathChange[],
): Promise<{ tree: string; objects: NewSnapshotObject[] }> {
  const objects: NewSnapshotObject[] = [];
  const edits = changes.map(({ path, after }) => ({ names: path.split("/"), after }));
  const root = await edit(trees, tree, edits, objects);
  return { tree: root, objects };
}

interface Edit {
  names: readonly string[];
  after: TreeEntry | null;
}

async function edit(
  trees: StoredTrees,
  tree: string | undefined,
  edits: readonly Edit[],
  objects: NewSnapshotObject[],
): Promise<string> {
  const before = tree === undefined ? [] : ((await trees.entries([tree])).get(tree) ?? []);
  const entries = new Map(before.map((entry) => [entry.name, entry]));
  for (const { names, after } of edits.filter(({ names }) => names.length === 1)) put(entries, names[0] ?? "", after);
  const below = edits.filter(({ names }) => names.length > 1);
  for (const [name, inner] of Map.groupBy(below, ({ names }) => names[0] ?? "")) {
    const folder = entries.get(name);
    // What changed inside a folder that is gone, or is a file now, went with it.
    if (folder && folder.type !== "tree") continue;
    if (!folder && inner.every(({ after }) => after === null)) continue;
    const known = before.find((entry) => entry.name === name && entry.type === "tree");
    const rest = inner.map(({ names, after }) => ({ names: names.slice(1), after }));
    const hash = await edit(trees, known?.hash, rest, objects);
    entries.set(name, { name, type: "tree", mode: folder?.mode ?? 0o755, hash });
  }
  const content = encodeTree(sortEntries([...entries.values()]));
  const hash = hashTree(content);
  if (hash !== tree) objects.push({ hash, kind: "tree", content });
  return hash;
}

/** A folder that is new begins empty: what is in it has changes of its own. */
function put(entries: Map<string, TreeEntry>, name: string, after: TreeEntry | null): void {
  const known = entries.get(name);
  if (after === null) entries.delete(name);
  else if (after.type === "tree" && known?.type === "tree") entries.set(name, { ...known, mode: after.mode });
  else entries.set(name, after.type === "tree" ? { ...after, hash: EMPTY } : after);
}

const EMPTY = hashTree(encodeTree([]));
