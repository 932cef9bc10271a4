import { AppError, isAppError } from "@cognition/contract";

const SQLITE_ERROR = 1;
/** "Syntax error or access rule violation", where a table that is there already belongs too. */
const SQL_REFUSED = "42";
const NOT_PERMITTED = "42501";

/** Tells a database that refused the schema itself from one that could not be reached; that passes as it is. */
export function explainMigrationFailure(error: unknown): unknown {
  if (!isAppError(error, "storage_unavailable") || !isRefusal(error.cause)) return error;
  const message =
    `The schema could not be made or upgraded, and nothing was changed. ${error.message}. ` +
    "If the database belongs to another program, use one of its own.";
  return new AppError("migration_failed", message, { cause: error.cause });
}

function isRefusal(cause: unknown): boolean {
  const { code = "", errcode } = (cause ?? {}) as { code?: string; errcode?: number };
  return errcode === SQLITE_ERROR || (code.startsWith(SQL_REFUSED) && code !== NOT_PERMITTED);
}
