import { encodeTree, hashBlob, hashTree, type TreeEntry } from "../snapshot/tree.ts";
import type { NewSnapshotObject } from "../snapshot-store.ts";

export function blob(content: string | Uint8Array): NewSnapshotObject {
  const bytes = Buffer.from(content as string);
  return { hash: hashBlob(bytes), kind: "blob", content: bytes };
}

export function tree(...entries: TreeEntry[]): NewSnapshotObject {
  const content = encodeTree(entries);
  return { hash: hashTree(content), kind: "tree", content };
}

export function file(name: string, { hash }: NewSnapshotObject): TreeEntry {
  return { name, type: "file", mode: 0o644, hash };
}
