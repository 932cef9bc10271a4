import { isAppError } from "@cognition/contract";
import type { Database } from "./database.ts";
import type { Statement } from "./statement.ts";

export interface WatchedWrites {
  /** The same database. */
  readonly db: Database;
  /**
   * Rejects while the database reads but does not write: its disk is full, it has become a standby, or its file is gone. As
   * long as no write was refused this asks no more than whether the file is in its place; after one, a small write of its own tells whether that is over.
   */
  requireWrites(): Promise<void>;
}

export function watchWrites(db: Database): WatchedWrites {
  let refused = false;

  async function watched<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      refused ||= isAppError(error, "storage_unavailable");
      throw error;
    }
  }

  return {
    db: {
      ...db,
      transaction: (body, writer) => watched(db.transaction(body, writer)),
      atomic: (...write) => watched(db.atomic(...write)),
    },
    requireWrites: async () => {
      db.requireInPlace();
      if (!refused) return;
      await db.atomic(PROBE);
      refused = false;
    },
  };
}

/** A row that nobody ever sees: it goes in the transaction that it came in. */
const PROBE: readonly Statement[] = [
  {
    sql: "insert into idempotency_keys (scope, key, body_hash, created_at, expires_at) values ('', '', '', '', 0)",
    params: [],
  },
  { sql: "delete from idempotency_keys where scope = '' and key = ''", params: [] },
];
