import { statSync } from "node:fs";
import { AppError } from "@cognition/contract";

/**
 * Whether the path still leads to the file that is open. SQLite goes on with a file that was removed or replaced: what it
 * writes then is gone with the process, though every commit succeeds. By `stat` alone: to open the file and close it again
 * would let go of SQLite's own locks on it. It takes a few microseconds, a commit's fsync many times as long.
 */
export class SqliteFile {
  readonly #path: string;
  readonly #opened: string | undefined;
  #isGone = false;

  /** Right after it was opened. */
  constructor(path: string) {
    this.#path = path;
    this.#opened = identity(path);
  }

  /** Once it was away it stays so: another process may have begun a new one under the same name. */
  requireInPlace(): void {
    this.#isGone ||= identity(this.#path) !== this.#opened;
    if (!this.#isGone) return;
    throw new AppError(
      "storage_unavailable",
      `SQLite database ${this.#path} was removed or replaced while it was open. Nothing more is stored: it would be lost. ` +
        "Stop this process, put the right file in its place and start again.",
    );
  }
}

/** Undefined where there is no file. */
function identity(path: string): string | undefined {
  if (path === ":memory:") return undefined;
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev}:${found.ino}`;
  } catch (error) {
    // A file stands where its folder was.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw new AppError("storage_unavailable", `SQLite database ${path} can't be looked at; nothing was stored`, {
      cause: error,
    });
  }
}
