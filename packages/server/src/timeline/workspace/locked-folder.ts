import { chmodSync, fchmodSync, fstatSync, lstatSync } from "node:fs";
import { entryPath, fsPath, type HeldFolder, holdIn } from "./held-folder.ts";
import { isClosedTo } from "./read-entry.ts";

const MODE = 0o7777;
const OPEN = 0o700;

/**
 * As `holdIn`, also for a folder that its owner may not read: commands make such (`chmod 000`, a cache of modules without
 * the right to write). It is open as long as `use` takes.
 */
export function holdToWrite<T>(folder: HeldFolder, name: string, use: (folder: HeldFolder) => T): T {
  const path = fsPath(entryPath(folder, name));
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const mode = (stats?.mode ?? 0) & MODE;
  if (!stats?.isDirectory() || isRoot() || (mode & OPEN) === OPEN) return holdIn(folder, name, use);
  unlock(() => chmodSync(path, mode | OPEN));
  return holdIn(folder, name, (inner) => {
    try {
      return use(inner);
    } finally {
      unlock(() => fchmodSync(inner.fd, mode));
    }
  });
}

/** Lets entries of a folder be made and removed for as long as the work takes, whatever its mode says to its owner. */
export function whileWritable(folder: HeldFolder, work: () => void): void {
  const mode = fstatSync(folder.fd).mode & MODE;
  if (isRoot() || (mode & OPEN) === OPEN) {
    work();
    return;
  }
  unlock(() => fchmodSync(folder.fd, mode | OPEN));
  try {
    work();
  } finally {
    unlock(() => fchmodSync(folder.fd, mode));
  }
}

/** A folder of somebody else's stays as it is, and what is done in it tells what it may not. */
function unlock(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!isClosedTo(error)) throw error;
  }
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}
