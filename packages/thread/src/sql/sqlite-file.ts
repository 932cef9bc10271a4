import { statSync } from "node:fs";
import { AppError } from "@cognition/contract";

/**
 * Whether the path still leads to the file that is open, and what SQLite keeps beside it is still there. SQLite goes on with
 * files that were removed or replaced: what it writes then is gone with the process, though every commit succeeds; and
 * whoever opens the database next makes new ones, with locks that nobody else looks at. By `stat` alone: to open a file and
 * close it again would let go of SQLite's own locks on it. It takes a few microseconds, a commit's fsync many times as long.
 */
export class SqliteFile {
  readonly #path: string;
  /** By path. SQLite makes its log with the first write; as long as somebody has the database open, it stays. */
  readonly #opened = new Map<string, string>();
  #gone: string | undefined;

  /** Right after it was opened. */
  constructor(path: string) {
    this.#path = path;
    this.#look();
  }

  /** Once it was away it stays so: another process may have begun a new one under the same name. */
  requireInPlace(): void {
    this.#look();
    if (this.#gone === undefined) return;
    throw new AppError("storage_unavailable", this.#gone === this.#path ? this.#isLost() : this.#isCutOff(this.#gone));
  }

  #look(): void {
    if (this.#path === ":memory:") return;
    for (const path of [this.#path, `${this.#path}-wal`, `${this.#path}-shm`]) {
      const found = identity(path);
      const opened = this.#opened.get(path);
      if (opened === undefined && found !== undefined) this.#opened.set(path, found);
      else if (opened !== found) this.#gone ??= path;
    }
  }

  #isLost(): string {
    return (
      `SQLite database ${this.#path} was removed or replaced while it was open. Nothing more is stored: it would be lost. ` +
      "Stop this process, put the right file in its place and start again."
    );
  }

  #isCutOff(path: string): string {
    return (
      `${path}, which belongs to SQLite database ${this.#path}, was removed or replaced while it was open. Nothing more is ` +
      "stored: it would be lost. Stop this process in good order, which brings all that it has stored into the database, and start again."
    );
  }
}

/** Undefined where there is no file. */
function identity(path: string): string | undefined {
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
