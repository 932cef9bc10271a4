import { chmodSync, constants, copyFileSync, lstatSync, renameSync, unlinkSync } from "node:fs";
import { UNFINISHED } from "../../file/unfinished.ts";
import { entryAt } from "./check-changes.ts";
import { entryPath, fsPath, type HeldFolder, isGone } from "./held-folder.ts";
import { changeInFolders, inFolders } from "./in-folders.ts";
import type { PathChange } from "./path-change.ts";

/**
 * Copies files from one folder to another, by reference where the file system can do that, and gives the paths that came
 * out as they should be. What is in the other folder may have changed since: each copy is compared before it counts.
 */
export function cloneFiles(root: string, source: string, changes: readonly PathChange[]): string[] {
  const files = changes.filter(({ after }) => after?.type === "file");
  const from = new Map<string, string>();
  inFolders(source, files, (folder, name, { path }) => {
    const stats = folder && lstatSync(fsPath(entryPath(folder, name)), { throwIfNoEntry: false });
    if (folder && stats?.isFile()) from.set(path, `${folder.path}/${name}`);
  });
  const cloned: string[] = [];
  changeInFolders(root, files, (folder, name, change) => {
    const path = from.get(change.path);
    if (folder && path !== undefined && cloneOne(folder, name, path, change)) cloned.push(change.path);
  });
  return cloned;
}

function cloneOne(folder: HeldFolder, name: string, source: string, { after }: PathChange): boolean {
  const beside = `${UNFINISHED.restored}${process.pid}`;
  const copy = fsPath(entryPath(folder, beside));
  try {
    copyFileSync(fsPath(source), copy, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  } catch (error) {
    if (isGone(error) || isRefused(error)) return false;
    throw error;
  }
  if (entryAt(folder, beside)?.hash !== after?.hash) {
    unlinkSync(copy);
    return false;
  }
  chmodSync(copy, after?.mode ?? 0o644);
  renameSync(copy, fsPath(entryPath(folder, name)));
  return true;
}

function isRefused(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM" || code === "EISDIR" || code === "EEXIST";
}
