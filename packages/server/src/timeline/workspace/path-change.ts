import type { TreeEntry } from "@cognition/thread/snapshot-tree";

/** What differs at one path. Folders count as there or not, and by their mode; what is in them has paths of its own. */
export interface PathChange {
  /** Bytes, one character each, with `/` between names. */
  readonly path: string;
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

/** What is found at the path of a change: one of its two sides, or something that neither knows of. */
export type PathState = "before" | "after" | "other";

export function isSameEntry(a: TreeEntry | null, b: TreeEntry | null): boolean {
  if (a === null || b === null) return a === b;
  return a.type === b.type && a.mode === b.mode && (a.type === "tree" || a.hash === b.hash);
}

export function splitPath(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf("/");
  return { folder: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
}
