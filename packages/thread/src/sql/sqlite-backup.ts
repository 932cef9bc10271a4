import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AppError } from "@cognition/contract";
import { storageError } from "./errors.ts";
import { makeFolders } from "./make-folders.ts";
import { makePrivateFile } from "./private-file.ts";

export interface SqliteBackupOptions {
  /** The database, which may be in use. */
  path: string;
  /** A file that is not there yet. */
  target: string;
}

/** A writer may hold the file for a moment; the copy itself only reads. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * Copies a SQLite database as it is at one moment, while others write to it: copying the file by other means would miss what
 * is still in its log, or take half of a commit. When this returns the copy is on the disk, whole; there is none before that.
 */
export function backupSqlite({ path, target }: SqliteBackupOptions): void {
  if (!existsSync(path)) {
    throw new AppError("storage_unavailable", `There is no SQLite database ${path}; nothing was copied.`);
  }
  if (existsSync(target)) {
    throw new AppError("already_exists", `${target} is there already; nothing was copied. Name another file.`);
  }
  const unfinished = `${resolve(target)}.unfinished`;
  const failed = `SQLite database ${path} can't be copied to ${target}`;
  try {
    makeFolders(dirname(unfinished));
    rmSync(unfinished, { force: true });
    makePrivateFile(unfinished);
  } catch (error) {
    throw storageError(error, failed);
  }
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    db.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    db.prepare("vacuum into ?").run(unfinished);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw storageError(error, failed);
  } finally {
    db.close();
  }
  // VACUUM INTO leaves the copy to the operating system's cache.
  sync(unfinished);
  renameSync(unfinished, target);
  sync(dirname(resolve(target)));
}

function sync(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
