import { chmodSync, constants, copyFileSync, renameSync, unlinkSync } from "node:fs";
import { hasCode } from "../../file/error-text.ts";
import { UNFINISHED } from "../../file/unfinished.ts";
import { entryAt, MAX_STORED_BYTES } from "./check-changes.ts";
import { entryPath, filePath, fsPath, type HeldFolder, isGone } from "./held-folder.ts";
import { changeInFolders, inFolders } from "./in-folders.ts";
import type { PathChange } from "./path-change.ts";
import { withRegular } from "./read-entry.ts";

/**
 * Copies files from one folder to another, by reference where the file system can do that, and gives the paths that came
 * out as they should be. What is in the other folder may have changed since: each copy is compared before it counts.
 */
export function cloneFiles(root: string, source: string, changes: readonly PathChange[]): string[] {
  const files = changes.filter(({ after }) => after?.type === "file");
  const cloned: string[] = [];
  changeInFolders(root, files, (folder, name, change) => {
    inFolders(source, [change], (from) => {
      if (folder && from && cloneOne(folder, name, from, change)) cloned.push(change.path);
    });
  });
  return cloned;
}

function cloneOne(folder: HeldFolder, name: string, from: HeldFolder, { after }: PathChange): boolean {
  const beside = `${UNFINISHED.restored}${process.pid}`;
  const copy = fsPath(entryPath(folder, beside));
  // Held open: a command may be at work there, and a pipe in the file's place would never be copied to its end.
  const isCopied = withRegular(from, name, MAX_STORED_BYTES, (fd) => copyTo(copy, filePath(from, name, fd)));
  if (!isCopied) return false;
  if (entryAt(folder, beside)?.hash !== after?.hash) {
    unlinkSync(copy);
    return false;
  }
  chmodSync(copy, after?.mode ?? 0o644);
  renameSync(copy, fsPath(entryPath(folder, name)));
  return true;
}

function copyTo(copy: string | Buffer, source: string | Buffer): boolean {
  try {
    copyFileSync(source, copy, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (isGone(error) || isRefused(error)) return false;
    throw error;
  }
}

function isRefused(error: unknown): boolean {
  return hasCode(error, "EACCES", "EPERM", "EISDIR", "EEXIST");
}
