import { lstatSync, readdirSync, type Stats } from "node:fs";
import { hashBlob, type TreeEntry } from "@cognition/thread/snapshot-tree";
import { entryPath, fsPath, type HeldFolder, holdIn, isGone, listingPath } from "./held-folder.ts";
import { inFolders } from "./in-folders.ts";
import { isSameEntry, type PathChange, type PathState } from "./path-change.ts";
import { isClosedTo, readLink, readRegular } from "./read-entry.ts";

const MODE = 0o777;
/** Larger ones are never in a snapshot: whatever is there is not what we know. */
export const MAX_STORED_BYTES = 256 * 1024 * 1024;

/** Which side of each change the folder is at. Reads every file in question: times alone would miss a quick edit. */
export function checkChanges(root: string, changes: readonly PathChange[]): PathState[] {
  const states = new Map<PathChange, PathState>();
  const paths = new Set(changes.map(({ path }) => path));
  inFolders(root, changes, (folder, name, change) => {
    const current = folder && entryAt(folder, name);
    const barred = !folder && isBarred(root, change.path, paths);
    states.set(change, barred && change.after ? "other" : stateOf(change, current ?? null, folder, name, paths));
  });
  return changes.map((change) => states.get(change) ?? "other");
}

function stateOf(
  { path, before, after }: PathChange,
  current: TreeEntry | null,
  folder: HeldFolder | undefined,
  name: string,
  paths: ReadonlySet<string>,
): PathState {
  if (isThere(current, after)) return "after";
  if (!isThere(current, before)) return "other";
  const mustGo = before?.type === "tree" && after !== null && after.type !== "tree";
  return mustGo && folder && holdsUnknown(folder, name, path, paths) ? "other" : "before";
}

/** Whether something that is no folder stands on the way there. What has a change of its own is told at that one. */
function isBarred(root: string, path: string, paths: ReadonlySet<string>): boolean {
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
    const above = path.slice(0, end);
    const stats = lookAtPath(`${root}/${above}`);
    if (!stats) return false;
    if (!stats.isDirectory()) return !paths.has(above);
  }
  return false;
}

/** Undefined for what is not there, and for what is in a folder that is closed. */
function lookAtPath(path: string): Stats | undefined {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false });
  } catch (error) {
    if (isGone(error) || isClosedTo(error)) return undefined;
    throw error;
  }
}

/** Of a folder only that it is there: its mode is set, not compared, or a umask would look like somebody's change. */
function isThere(current: TreeEntry | null, side: TreeEntry | null): boolean {
  if (current?.type === "tree" && side?.type === "tree") return true;
  return isSameEntry(current, side);
}

export function entryAt(folder: HeldFolder, name: string): TreeEntry | null {
  const stats = lstatSync(fsPath(entryPath(folder, name)), { throwIfNoEntry: false });
  if (!stats) return null;
  const mode = stats.mode & MODE;
  if (stats.isDirectory()) return { name, type: "tree", mode, hash: "" };
  if (stats.isSymbolicLink())
    return { name, type: "link", mode: 0, hash: hashBlob(readLink(folder, name) ?? Buffer.of()) };
  const read = stats.isFile() ? readRegular(folder, name, MAX_STORED_BYTES) : undefined;
  // What can't be read is something else than we know, and stays.
  return { name, type: "file", mode, hash: read ? hashBlob(read.content) : "" };
}

/** A folder that is to give way to a file, with something in it that would go unasked. */
function holdsUnknown(folder: HeldFolder, name: string, path: string, paths: ReadonlySet<string>): boolean {
  try {
    return holdIn(folder, name, (inner) =>
      readdirSync(listingPath(inner), { encoding: "latin1" }).some((child) => {
        const below = `${path}/${child}`;
        if (!paths.has(below)) return true;
        const isFolder = lstatSync(fsPath(entryPath(inner, child)), { throwIfNoEntry: false })?.isDirectory() ?? false;
        return isFolder && holdsUnknown(inner, child, below, paths);
      }),
    );
  } catch (error) {
    if (isClosedTo(error)) return true;
    throw error;
  }
}
