import { isAppError } from "@cognition/contract";
import type { Database } from "./database.ts";
import type { Tx } from "./statement.ts";
import { explainRefusal, holdThread, type ThreadName } from "./thread-row.ts";

/** A transaction that holds the thread's row from its first statement; a refusal says which of its reasons it was. */
export async function writeThread<T>(db: Database, thread: ThreadName, body: () => Tx<T>): Promise<T> {
  try {
    return await db.transaction(function* () {
      yield [holdThread(db, thread)];
      return yield* body();
    });
  } catch (error) {
    throw isAppError(error, "stale_epoch") ? await explainRefusal(db, thread, undefined) : error;
  }
}
