import type { TreeEntry } from "@cognition/thread/snapshot-tree";
import type { IgnoreRules } from "./ignore-rules.ts";

/** A file or link as it was seen, and what tells whether it has changed since. */
export interface ScannedFile {
  readonly entry: TreeEntry;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  /** Written so shortly before it was read that another write may have left the same times: read it again next time. */
  readonly racy: boolean;
}

/** A folder as it was seen. Never changed: a scan that finds it as it was gives the same object again. */
export interface ScannedFolder {
  readonly entry: TreeEntry;
  readonly children: ReadonlyMap<string, Scanned>;
  readonly rules: IgnoreRules | undefined;
  readonly ignored: ReadonlySet<string>;
  /** The names in it, and what tells whether they have changed since. */
  readonly look: {
    readonly names: readonly string[];
    readonly mtimeMs: number;
    readonly ctimeMs: number;
    readonly ino: number;
    readonly racy: boolean;
  };
  /** Bytes of the whole encoded tree. */
  readonly size: number;
  /** How it is stored, once it is: so many changes after a whole tree, which together take so many bytes. */
  stored: { readonly chain: number; readonly bytes: number } | undefined;
}

export type Scanned = ScannedFile | ScannedFolder;

export function isFolder(scanned: Scanned | undefined): scanned is ScannedFolder {
  return scanned !== undefined && "children" in scanned;
}
