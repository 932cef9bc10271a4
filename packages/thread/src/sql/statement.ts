import type { AppError } from "@cognition/contract";
import type { Compilable } from "kysely";

/** What both engines bind and give back. Booleans are 0 and 1, times and JSON are text. */
export type SqlValue = null | number | string | Uint8Array;

export interface Statement {
  /** Changes that are made along with it and that it may read from, by name; only where the dialect `changesInWith`. */
  with?: readonly string[];
  sql: string;
  params: readonly SqlValue[];
  /** A statement whose text never varies is prepared once per connection. */
  prepare?: boolean;
  /** The transaction is undone with this error unless the statement yields exactly one row. */
  requireRow?: () => AppError;
}

export interface QueryResult {
  rows: Record<string, SqlValue>[];
  changes: number;
}

/**
 * A transaction body. `yield*` reads as `await`: SQLite runs the body from start to end without letting anything else
 * in between, PostgreSQL awaits each step. A body may run again (after a deadlock, or when one that shared its commit has failed),
 * so it must not have other effects.
 */
export type Tx<T> = Generator<readonly Statement[], T, readonly QueryResult[]>;

/** Kysely builds and types a query; the engines in this folder run it. */
export function statement(query: Compilable): Statement {
  const { sql, parameters } = query.compile();
  return { sql, params: parameters as SqlValue[] };
}

export function* rows<R>(query: Compilable<R>): Tx<R[]> {
  const [result] = yield [statement(query)];
  return result?.rows as R[];
}

export function* first<R>(query: Compilable<R>): Tx<R | undefined> {
  const found = yield* rows(query);
  return found[0];
}

/** How many rows a write touched. */
export function* changes(query: Compilable): Tx<number> {
  const [result] = yield [statement(query)];
  return result?.changes ?? 0;
}

/** Several statements that don't need each other's results: one round trip on PostgreSQL. */
export function* all(statements: readonly Statement[]): Tx<readonly QueryResult[]> {
  return statements.length === 0 ? [] : yield statements;
}
