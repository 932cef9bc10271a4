import { sql } from "kysely";
import type { BreakerStore, OpenBreaker } from "../breaker-store.ts";
import type { SqlContext } from "./context.ts";
import { fixedQuery } from "./fixed-query.ts";
import { requireDuration, requireWhole } from "./input-checks.ts";
import { scopeText } from "./scope.ts";
import { changes } from "./statement.ts";

type OpenRow = Pick<OpenBreaker, "name" | "failures" | "open_ms"> & { scope: string };

/** Asked every second by every node, so it is compiled once. */
const selectOpen = fixedQuery(({ q, dialect }) => {
  const now = sql<number>`(select ${sql.raw(dialect.nowMs)})`;
  return q
    .selectFrom("circuit_breakers")
    .select(["name", "scope", "failures", sql<number>`open_until - ${now}`.as("open_ms")])
    .where("open_until", ">", now);
});

export function createBreakerStore({ db }: SqlContext): BreakerStore {
  const now = sql<number>`(select ${sql.raw(db.dialect.nowMs)})`;
  return {
    openBreaker: async ({ name, scope, failures, open_ms }) => {
      requireWhole("failures", failures);
      requireDuration("open_ms", Math.ceil(open_ms));
      const open_until = sql<number>`${sql.raw(db.dialect.nowMs)} + ${sql.lit(Math.ceil(open_ms))}`;
      const insert = db.q
        .insertInto("circuit_breakers")
        .values({ scope: scopeText(scope), name, failures, open_until });
      const raise = insert.onConflict((conflict) =>
        conflict.columns(["scope", "name"]).doUpdateSet({ failures, open_until }),
      );
      const over = db.q.deleteFrom("circuit_breakers").where("open_until", "<=", now);
      await db.transaction(function* () {
        yield* changes(over);
        yield* changes(raise);
      });
    },
    closeBreaker: async ({ name, scope }) => {
      const gone = db.q.deleteFrom("circuit_breakers").where("scope", "=", scopeText(scope)).where("name", "=", name);
      await db.transaction(() => changes(gone));
    },
    listOpenBreakers: async () => {
      const [found] = await db.readAll([selectOpen(db, {})]);
      const rows = (found?.rows ?? []) as unknown as OpenRow[];
      return rows.map((row) => ({ ...row, open_ms: Number(row.open_ms), scope: JSON.parse(row.scope) }));
    },
  };
}
