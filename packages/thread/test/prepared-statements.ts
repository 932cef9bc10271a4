import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, vi } from "vitest";
import { sqliteDialect } from "../src/sql/dialect.ts";
import { migrations } from "../src/sql/migrations/list.ts";

/** What makes the tables. */
export const schema: readonly string[] = migrations.flatMap(({ up }) => up(sqliteDialect));

/** Every statement that a test file's tests have SQLite prepare. */
export function collectStatements(): ReadonlySet<string> {
  const statements = new Set<string>();
  beforeAll(() => {
    const prepare = DatabaseSync.prototype.prepare;
    vi.spyOn(DatabaseSync.prototype, "prepare").mockImplementation(function (this: DatabaseSync, sql, ...rest) {
      statements.add(sql);
      return prepare.call(this, sql, ...rest);
    });
  });
  afterAll(() => vi.restoreAllMocks());
  return statements;
}

/** How SQLite goes about it, step by step. */
export function planner(): (sql: string) => string[] {
  const db = new DatabaseSync(":memory:");
  for (const sql of schema) db.exec(sql);
  return (sql) => (db.prepare(`explain query plan ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail);
}
