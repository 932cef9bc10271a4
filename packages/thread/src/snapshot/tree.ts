import { createHash } from "node:crypto";

/**
 * A regular file, a symbolic link (its object holds the target) or a folder (its object is a tree); or a note that something
 * is there which is not stored: it is ignored, too large, or can't be read. Without that, it would look as if it weren't there.
 */
export type EntryType = "file" | "link" | "tree" | "unstored";

/**
 * `name` holds a file name's bytes, one character each (latin1): names need not be UTF-8, and what can't be decoded could
 * not be restored. `mode` is the nine permission bits; 0 for a link, which has none of its own.
 */
export interface TreeEntry {
  name: string;
  type: EntryType;
  mode: number;
  hash: string;
}

/** What made one tree of another: entries that are new or other than before, and names that are gone. */
export interface TreeChange {
  base: string;
  set: TreeEntry[];
  gone: string[];
}

export type Cell = [name: string, type: string, hash: string];

const LETTERS: Record<EntryType, string> = { file: "f", link: "l", tree: "d", unstored: "d" };
/**
 * A note is written as an empty folder with a bit in its mode that no stored folder has: programs that know of no notes read
 * it, and remove no folder that holds something.
 */
const UNSTORED_MODE = 0o1755;
/** 192 bits: no two contents ever share a name, and a tree of many entries stays short. */
const HASH_BYTES = 24;

/** Kinds never share a name: a file that happens to read like a tree is another object. */
export function hashBlob(content: Uint8Array): string {
  return hash("blob\n", content);
}

export function hashTree(content: Uint8Array): string {
  return hash("tree\n", content);
}

function hash(kind: string, content: Uint8Array): string {
  return createHash("sha256").update(kind).update(content).digest().subarray(0, HASH_BYTES).toString("base64url");
}

/** Entries are in the order of their names' bytes, so that equal folders are equal objects. */
export function encodeTree(entries: readonly TreeEntry[]): Uint8Array {
  return Buffer.from(JSON.stringify(entries.map(toCell)));
}

export function encodeTreeChange({ base, set, gone }: TreeChange): Uint8Array {
  return Buffer.from(JSON.stringify({ base, set: set.map(toCell), gone }));
}

export function sortEntries(entries: TreeEntry[]): TreeEntry[] {
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The folder with nothing in it, which every scope has without storing it. */
export const EMPTY_TREE = hashTree(encodeTree([]));

export function unstoredEntry(name: string): TreeEntry {
  return { name, type: "unstored", mode: UNSTORED_MODE, hash: EMPTY_TREE };
}

export function isUnstoredMode(mode: number): boolean {
  return mode === UNSTORED_MODE;
}

function toCell({ name, type, mode, hash }: TreeEntry): Cell {
  return [name, `${LETTERS[type]}${mode.toString(8)}`, hash];
}
