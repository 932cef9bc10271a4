import type { Stats } from "node:fs";
import { type EntryType, hashBlob, type TreeEntry } from "@cognition/thread/snapshot-tree";
import type { LazyFolder } from "./held-folder.ts";
import { readLink, readRegular } from "./read-entry.ts";
import type { ScanOptions } from "./scan-workspace.ts";
import type { ScannedFile } from "./scanned-folder.ts";

/** A clock tick of the kernel, generously; and where times are whole seconds, the two that FAT rounds to. */
const RACY_MS = 50;
const RACY_COARSE_MS = 2_000;
const MODE = 0o777;

interface Found {
  type: Exclude<EntryType, "tree" | "unstored">;
  stats: Stats;
  was: ScannedFile | undefined;
  options: ScanOptions;
}

/** The same object as before where nothing tells that it has changed; undefined for what is left out. */
export function scanFile(
  folder: LazyFolder,
  name: string,
  { type, stats, was, options }: Found,
): ScannedFile | undefined {
  if (was && !was.racy && isUnchanged(was, type, stats)) return was;
  const started = options.now();
  const read =
    type === "link" ? readTarget(folder, name, stats) : readRegular(folder.hold(), name, options.maxFileBytes);
  if (!read) return undefined;
  const mode = type === "link" ? 0 : read.stats.mode & MODE;
  const hash = hashBlob(read.content);
  const same = was && was.entry.type === type && was.entry.mode === mode && was.entry.hash === hash;
  if (!same) options.onContent?.(hash, read.content);
  const entry: TreeEntry = same ? was.entry : { name, type, mode, hash };
  const { size, mtimeMs, ctimeMs, ino } = read.stats;
  return { entry, size, mtimeMs, ctimeMs, ino, racy: isRacy(read.stats, started) };
}

function readTarget(folder: LazyFolder, name: string, stats: Stats): { content: Buffer; stats: Stats } | undefined {
  const content = readLink(folder.hold(), name);
  return content && { content, stats };
}

function isUnchanged(was: ScannedFile, type: EntryType, stats: Stats): boolean {
  return (
    was.mtimeMs === stats.mtimeMs &&
    was.ctimeMs === stats.ctimeMs &&
    was.size === stats.size &&
    was.ino === stats.ino &&
    was.entry.type === type &&
    (type === "link" || was.entry.mode === (stats.mode & MODE))
  );
}

/** Written so shortly before it was looked at that another write may leave the same times. */
export function isRacy({ mtimeMs, ctimeMs }: Stats, started: number): boolean {
  const window = mtimeMs % 1_000 === 0 && ctimeMs % 1_000 === 0 ? RACY_COARSE_MS : RACY_MS;
  return Math.max(mtimeMs, ctimeMs) > started - window;
}
