import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "@cognition/contract";

/** SQLite says "unable to open database file" to all of these; here each is told apart, before anything is made. */
export function checkSqlitePath(path: string): void {
  const file = find(path);
  if (file?.isDirectory()) throw unusable(path, "is a directory; name a file");
  let folder = dirname(path);
  let found = find(folder);
  while (!found && folder !== dirname(folder)) {
    folder = dirname(folder);
    found = find(folder);
  }
  if (found && !found.isDirectory())
    throw unusable(path, `can't be made, because ${folder} is a file and not a folder`);
  // The folder too: the write-ahead log stands next to the database.
  requireAccess(path, folder, constants.W_OK | constants.X_OK);
  if (file) requireAccess(path, path, constants.R_OK | constants.W_OK);
}

function find(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    // Below a file there is nothing to be found; the caller goes up and meets the file.
    if ((cause as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw unusable(path, `can't be looked at: ${(cause as Error).message}`, cause);
  }
}

function requireAccess(path: string, what: string, mode: number): void {
  try {
    accessSync(what, mode);
  } catch (cause) {
    throw unusable(path, `can't be used, because ${what} is not writable for this user`, cause);
  }
}

function unusable(path: string, why: string, cause?: unknown): AppError {
  return new AppError("storage_unavailable", `SQLite database ${path} ${why}. Nothing was made or changed.`, { cause });
}
