import type { Database } from "./database.ts";

/** The same database; whoever watches learns how long each write took, also one that was refused. */
export function timedDatabase(db: Database, onCommit: (seconds: number) => void): Database {
  async function timed<T>(write: Promise<T>, started: number): Promise<T> {
    try {
      return await write;
    } finally {
      onCommit((performance.now() - started) / 1000);
    }
  }

  return {
    ...db,
    transaction: (body, writer) => timed(db.transaction(body, writer), performance.now()),
    atomic: (...write) => timed(db.atomic(...write), performance.now()),
  };
}
