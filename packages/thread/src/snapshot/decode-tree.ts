import { AppError } from "@cognition/contract";
import { type Cell, type EntryType, isUnstoredMode, sortEntries, type TreeChange, type TreeEntry } from "./tree.ts";

const TYPES: Record<string, EntryType> = { f: "file", l: "link", d: "tree" };

export function decodeTree(content: Uint8Array): TreeEntry[] {
  return (parse(content) as Cell[]).map(fromCell);
}

export function decodeTreeChange(content: Uint8Array): TreeChange {
  const { base, set, gone } = parse(content) as { base: string; set: Cell[]; gone: string[] };
  return { base, set: set.map(fromCell), gone };
}

export function applyTreeChanges(entries: readonly TreeEntry[], changes: readonly TreeChange[]): TreeEntry[] {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  for (const { set, gone } of changes) {
    for (const name of gone) byName.delete(name);
    for (const entry of set) byName.set(entry.name, entry);
  }
  return sortEntries([...byName.values()]);
}

function fromCell([name, kind, hash]: Cell): TreeEntry {
  const type = TYPES[kind[0] ?? ""];
  if (!type) throw new AppError("corrupt_data", `An entry of a stored folder is of no known kind: ${kind}`);
  const mode = Number.parseInt(kind.slice(1), 8);
  return { name, type: type === "tree" && isUnstoredMode(mode) ? "unstored" : type, mode, hash };
}

function parse(content: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString());
  } catch (cause) {
    throw new AppError("corrupt_data", "A stored folder is not readable", { cause });
  }
}
