import type { DeleteQueryBuilder, DeleteResult } from "kysely";
import type { Database } from "./database.ts";
import { changes } from "./statement.ts";
import type { Tables } from "./tables.ts";

/** Nobody waits long for a transaction that deletes so many. On SQLite the whole process would, for all of them at once. */
export const PORTION = 500;

/** Runs a statement that deletes `PORTION` rows at most until there are no more. Gives how many went. */
export async function deletePortions<T extends keyof Tables>(
  db: Database,
  drop: DeleteQueryBuilder<Tables, T, DeleteResult>,
  signal?: AbortSignal,
): Promise<number> {
  for (let deleted = 0; ; ) {
    const gone = await db.transaction(() => changes(drop));
    deleted += gone;
    if (gone < PORTION || signal?.aborted) return deleted;
  }
}
