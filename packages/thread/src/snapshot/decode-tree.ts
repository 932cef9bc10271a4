import { AppError } from "@cognition/contract";
import { type Cell, type EntryType, isUnstoredMode, sortEntries, type TreeChange, type TreeEntry } from "./tree.ts";

const TYPES: Record<string, EntryType> = { f: "file", l: "link", d: "tree" };

/** `name` is the object's, to be told where it can't be read. */
export function decodeTree(content: Uint8Array, name = ""): TreeEntry[] {
  return read(content, name, (cells: Cell[]) => cells.map(fromCell));
}

export function decodeTreeChange(content: Uint8Array, name = ""): TreeChange {
  type Stored = { base: string; set: Cell[]; gone: string[] };
  return read(content, name, ({ base, set, gone }: Stored) => ({ base, set: set.map(fromCell), gone: [...gone] }));
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
  if (!type) throw new Error(`an entry is of no known kind: ${kind}`);
  const mode = Number.parseInt(kind.slice(1), 8);
  return { name, type: type === "tree" && isUnstoredMode(mode) ? "unstored" : type, mode, hash };
}

function read<T, Stored>(content: Uint8Array, name: string, decode: (stored: Stored) => T): T {
  try {
    return decode(JSON.parse(Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString()));
  } catch (cause) {
    const details = { snapshot_id: name };
    const message = `The stored folder ${name} is not readable: ${(cause as Error).message}`;
    throw new AppError("corrupt_data", message, { cause, details });
  }
}
