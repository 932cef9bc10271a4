import { AppError, isAppError } from "@cognition/contract";

/** The one place where a driver's error becomes one of ours. */
export function storageError(error: unknown, where: string): AppError {
  if (error instanceof AppError) return error;
  const cause = error as { code?: string; errcode?: number; message?: string };
  const message = cause.message ?? String(error);
  if (isBusy(error))
    return new AppError("storage_busy", `${where} is locked by another process: ${message}`, { cause });
  if (isCorrupt(error)) return new AppError("corrupt_data", unreadable(where, message), { cause });
  if (cause.code === POSTGRES_UNTRANSLATABLE) {
    const told = "A text holds a U+0000, which PostgreSQL can't store; nothing was stored";
    return new AppError("validation_failed", told, { cause });
  }
  if (isUnstorable(error))
    return new AppError("validation_failed", `${where} can't hold what was to be stored: ${message}`, { cause });
  // A caller over HTTP is told this: what the tables are called, and where they are, is for the log.
  if (isUniqueViolation(error))
    return new AppError("already_exists", "What was to be stored is there already; nothing was stored", { cause });
  if (isConstraint(error)) {
    const told = "The storage refuses what was to be stored: something is missing in it, or was removed meanwhile";
    return new AppError("validation_failed", told, { cause });
  }
  if (isFull(error)) return new AppError("storage_unavailable", noRoom(where, message), { cause });
  return new AppError("storage_unavailable", `${where}: ${message}`, { cause });
}

/** Whether nothing is wrong but that the storage can't be asked now. */
export function isAway(error: unknown): boolean {
  return isAppError(error, "storage_unavailable", "storage_busy", "storage_closed");
}

const POSTGRES_UNTRANSLATABLE = "22021";

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_TOOBIG = 18;
const SQLITE_CONSTRAINT = 19;
const SQLITE_NOTADB = 26;

/** SQLite's primary result code is the low byte of the extended one. */
function sqliteCode(error: unknown): number | undefined {
  const { code, errcode } = error as { code?: string; errcode?: number };
  return code === "ERR_SQLITE_ERROR" && errcode !== undefined ? errcode & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

function isCorrupt(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** What Node's SQLite says of a number that it can't give back as it is. */
const SQLITE_NUMBER_TOO_BIG = "ERR_OUT_OF_RANGE";

/**
 * The values themselves are refused, and would be however often they are sent: too big, or too long for an index. (PostgreSQL's
 * classes of such errors: data exception, program limit exceeded.)
 */
function isUnstorable(error: unknown): boolean {
  const { code = "" } = error as { code?: string };
  if (sqliteCode(error) === SQLITE_TOOBIG || code === SQLITE_NUMBER_TOO_BIG) return true;
  return /^(22|54)[0-9A-Z]{3}$/.test(code);
}

/** A rule of the schema stands against it: a column that must have a value, a row that must be there. (PostgreSQL's class 23.) */
function isConstraint(error: unknown): boolean {
  const { code = "" } = error as { code?: string };
  return sqliteCode(error) === SQLITE_CONSTRAINT || /^23[0-9A-Z]{3}$/.test(code);
}

const POSTGRES_DISK_FULL = "53100";

function isFull(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_FULL || (error as { code?: string }).code === POSTGRES_DISK_FULL;
}

function unreadable(where: string, message: string): string {
  return (
    `${where}: the file is damaged, or no database (${message}). Nothing was changed; put a backup in its place, with no -wal ` +
    "and no -shm file beside it, or move it away to begin anew"
  );
}

function noRoom(where: string, message: string): string {
  return `${where} has no room left (${message}). Nothing of this was stored, and all that was before is kept; make room, and work goes on by itself`;
}

/**
 * PostgreSQL chose this transaction as the victim, or ended it because this process stood still in its middle: nothing of it
 * is there, and running it again is safe and usually succeeds.
 */
export function isRetryable(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "40001" || code === "40P01" || wasEndedIdle(error);
}

/** `idle_in_transaction_session_timeout`: the transaction is rolled back, and its connection closed. */
export function wasEndedIdle(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === "25P03";
}

/**
 * A newer node has changed a table since this connection prepared a statement that gives all its columns. Of no use any more to
 * this connection, and only to it. (By the name of the server's function: its message may be in any language.)
 */
export function isStalePlan(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: string; routine?: string };
  return code === "0A000" && routine === "RevalidateCachedQuery";
}

/**
 * This connection can't write: it was opened while the database took no writes (its host runs out of disk, it was a standby), and
 * stays as it is when that is over. Another one may find out.
 */
export function isReadOnly(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === "25006";
}

const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
const SQLITE_CONSTRAINT_UNIQUE = 2067;
const POSTGRES_UNIQUE_VIOLATION = "23505";

/** A row with that key is there already. Also for the error that `storageError` made of it. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode, cause } = error as { code?: string; errcode?: number; cause?: unknown };
  if (code === POSTGRES_UNIQUE_VIOLATION) return true;
  if (errcode === SQLITE_CONSTRAINT_UNIQUE || errcode === SQLITE_CONSTRAINT_PRIMARYKEY) return true;
  return cause instanceof Error && isUniqueViolation(cause);
}
