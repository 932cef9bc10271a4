import { type RawBuilder, sql } from "kysely";

/**
 * A limit that is more than a bare parameter. By that SQLite would plan: it prepares the statement anew each time one is
 * bound, which takes several times as long as running it.
 */
export function atMost(rows: number): RawBuilder<number> {
  return sql<number>`cast(${rows} as bigint)`;
}

/** As part of the text, so that it is known to the plan. */
export const ONE = sql.lit(1);
