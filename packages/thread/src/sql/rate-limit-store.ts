import { AppError, type Scope } from "@cognition/contract";
import { type SqlBool, sql } from "kysely";
import type { RateLimit, RateLimitStore, RateVerdict } from "../rate-limit-store.ts";
import type { SqlContext } from "./context.ts";
import { requireAmount, requireWhole } from "./input-checks.ts";
import { scopeText } from "./scope.ts";
import { changes, first, type Tx } from "./statement.ts";

/** No scope's text: those are JSON objects. */
const UNSCOPED = "";

/** Finer than the clock, or a rate of 300 a second would be one of 250. */
const MICROSECONDS = 1_000_000;
/** A node that is being given another rate may have left the bucket a little emptier than it can be. */
const ASTRAY = 60 * MICROSECONDS;

export function createRateLimitStore(ctx: SqlContext): RateLimitStore {
  const { db } = ctx;
  return {
    takeRequest: async (scope, limit) => {
      requireLimit(limit);
      return db.transaction(() => take(ctx, scope, limit));
    },
    pruneRateLimits: () => {
      const full = db.q.deleteFrom("rate_limits").where("full_at", "<=", sql<number>`(select ${now(ctx)})`);
      return db.transaction(() => changes(full));
    },
  };
}

/** Half of what a number holds, since the time of day is added. */
const LONGEST = Number.MAX_SAFE_INTEGER / 2;

function requireLimit({ per_second, burst }: RateLimit): void {
  requireAmount("per_second", per_second);
  requireWhole("burst", burst, 1);
  if ((MICROSECONDS / per_second) * burst <= LONGEST) return;
  throw new AppError(
    "validation_failed",
    `A bucket of ${burst} that fills by ${per_second} a second is never full again`,
  );
}

function now({ db }: SqlContext) {
  return sql<number>`${sql.raw(db.dialect.nowMs)} * 1000`;
}

/**
 * The bucket is one number, the time at which it will be full: each request moves it by the time that one takes to come
 * back, and is refused where that would be further away than the whole bucket. One statement, which is also the lock.
 */
function* take(ctx: SqlContext, scope: Scope | undefined, { per_second, burst }: RateLimit): Tx<RateVerdict> {
  const { q } = ctx.db;
  const key = scope === undefined ? UNSCOPED : scopeText(scope);
  const cost = Math.round(MICROSECONDS / per_second);
  const latest = sql<number>`${now(ctx)} + ${sql.lit(cost * (burst - 1))}`;
  // Further away than the bucket is deep: the clock was put back, and would keep everybody out until it is there again.
  const astray = sql<SqlBool>`rate_limits.full_at > ${now(ctx)} + ${sql.lit(cost * burst + ASTRAY)}`;
  const from = sql<number>`case when rate_limits.full_at > ${now(ctx)} and not ${astray} then rate_limits.full_at
    else ${now(ctx)} end`;
  const taken = yield* first(
    q
      .insertInto("rate_limits")
      .values({ scope: key, full_at: sql<number>`${now(ctx)} + ${sql.lit(cost)}` })
      .onConflict((conflict) =>
        conflict
          .column("scope")
          .doUpdateSet({ full_at: sql<number>`(${from}) + ${sql.lit(cost)}` })
          .where((eb) => eb.or([eb("rate_limits.full_at", "<=", latest), astray])),
      )
      .returning("full_at"),
  );
  if (taken) return { allowed: true };
  const wait = sql<number>`full_at - (${latest})`.as("wait");
  const refused = yield* first(q.selectFrom("rate_limits").select(wait).where("scope", "=", key));
  return { allowed: false, retry_after_ms: Math.max(1, Math.ceil((refused?.wait ?? cost) / 1000)) };
}
