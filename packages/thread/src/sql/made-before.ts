import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Tables } from "./tables.ts";

/** Tables whose rows are listed by `pk`, newest first. */
type Listed = Extract<keyof Tables, "sessions" | "runs" | "deliveries" | "artifacts">;

/**
 * What was made before the row of this id, which `alias` of the outer query is held to. A row that is gone has no number
 * any more; its neighbours by id, which sort by time, tell where it stood.
 */
export function madeBefore(table: Listed, alias: string, id: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(`${alias}.pk`)} < coalesce(
    (select pk from ${sql.table(table)} where id = ${id}),
    (select max(pk) + 1 from ${sql.table(table)} where id < ${id}))`;
}
