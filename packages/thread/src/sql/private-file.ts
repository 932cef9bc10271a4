import { closeSync, openSync } from "node:fs";

/**
 * Makes the file, for its owner alone, unless there is one: SQLite would let everybody on the machine read what it makes. What it
 * keeps beside a database gets the mode of that.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    // One that is there keeps its mode, which may be meant. It is not opened: closing it would let go of SQLite's locks on it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
