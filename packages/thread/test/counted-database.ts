import type { Database } from "../src/sql/database.ts";
import type { QueryResult, SqlValue, Statement, Tx } from "../src/sql/statement.ts";

export interface Cost {
  /** Round trips, where the database is another process. */
  flights: number;
  statements: number;
  /** Rows that were read. */
  rows: number;
  /** What travels to the database, and from it. */
  sent: number;
  read: number;
}

export const NOTHING: Cost = { flights: 0, statements: 0, rows: 0, sent: 0, read: 0 };

/** Counts what a transaction asks for and gets: the same on a fast machine and on a slow one. */
export function counting(db: Database, cost: Cost): Database {
  const size = (value: SqlValue) => (typeof value === "object" || typeof value === "string" ? (value?.length ?? 0) : 8);
  const count = (statements: readonly Statement[], results: readonly QueryResult[]) => {
    const rows = results.flatMap((result) => result.rows);
    cost.flights++;
    cost.statements += statements.length;
    cost.rows += rows.length;
    cost.sent += statements.flatMap(({ params }) => params).reduce<number>((sum, value) => sum + size(value), 0);
    cost.read += rows.flatMap((row) => Object.values(row)).reduce<number>((sum, value) => sum + size(value), 0);
  };
  function* counted<T>(body: Tx<T>): Tx<T> {
    let step = body.next();
    while (!step.done) {
      const results = yield step.value;
      count(step.value, results);
      step = body.next(results);
    }
    return step.value;
  }
  return { ...db, transaction: (body) => db.transaction(() => counted(body())) };
}
