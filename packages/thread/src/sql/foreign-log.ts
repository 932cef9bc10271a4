import { closeSync, openSync, readSync, statSync } from "node:fs";
import { AppError } from "@cognition/contract";

/** In a SQLite file's header: 2 where it is kept with a log. A copy that SQLite made of it is without one, until it is opened. */
const LOG_BYTE = 18;
const WITHOUT_LOG = 1;

/** Files that this process has open, by device and inode. */
const open = new Map<string, number>();

/**
 * Throws, and leaves everything as it is, if a backup was put in the place of a file whose log is still there: SQLite would write
 * that log into the backup, and nothing would be left of either. What this process has open already is not looked at: to open a
 * file and close it again would let go of SQLite's own locks on it, and one that is open with its log is no such backup.
 */
export function requireOwnLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (!log || log.size === 0) return;
  const id = identity(path);
  if (id === undefined || open.has(id) || headerByte(path) !== WITHOUT_LOG) return;
  throw new AppError(
    "corrupt_data",
    `${path}-wal is what another database left that stood in the place of ${path} before; it would ruin this one. Nothing was ` +
      `changed. Remove ${path}-wal and ${path}-shm, and start again.`,
  );
}

/** Called when it is open; what it gives is called when it is closed. */
export function holdOpen(path: string): () => void {
  const id = identity(path);
  if (id === undefined) return () => undefined;
  open.set(id, (open.get(id) ?? 0) + 1);
  return () => {
    const left = (open.get(id) ?? 1) - 1;
    if (left === 0) open.delete(id);
    else open.set(id, left);
  };
}

function identity(path: string): string | undefined {
  const found = path === ":memory:" ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function headerByte(path: string): number | undefined {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(LOG_BYTE + 1);
    return readSync(file, header, 0, header.length, 0) === header.length ? header[LOG_BYTE] : undefined;
  } finally {
    closeSync(file);
  }
}
