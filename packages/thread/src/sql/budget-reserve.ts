import { AppError, isAppError } from "@cognition/contract";
import { type SqlBool, sql } from "kysely";
import type { BudgetAnswer, BudgetCount, BudgetReservation, BudgetSpend } from "../budget-store.ts";
import { type BudgetUsageRow, toBudget } from "./budget-row.ts";
import type { SqlContext } from "./context.ts";
import { requireAmount, requireDuration, requireWhole } from "./input-checks.ts";
import { changes, first, rows, type Tx } from "./statement.ts";

type Refused = Extract<BudgetAnswer, { ok: false }>;

export async function reserveBudget(ctx: SqlContext, asked: BudgetReservation): Promise<BudgetAnswer> {
  requireAmounts(asked);
  requireWhole("steps", asked.steps);
  requireWhole("tool_calls", asked.tool_calls);
  requireDuration("ttl_ms", Math.ceil(asked.ttl_ms));
  const reservation = asked.id ?? ctx.newId();
  try {
    return await ctx.db.transaction(() => reserveAll(ctx, reservation, asked));
  } catch (error) {
    // Thrown, so that what was taken of the budgets before the one that had no room is undone.
    if (isAppError(error, "budget_exceeded")) return error.details["refused"] as Refused;
    throw error;
  }
}

function requireAmounts({ tokens, cost, seconds }: Pick<BudgetSpend, "tokens" | "cost" | "seconds">): void {
  requireWhole("tokens", tokens);
  requireAmount("cost", cost ?? 0);
  requireAmount("seconds", seconds);
}

function* reserveAll(ctx: SqlContext, reservation: string, asked: BudgetReservation): Tx<BudgetAnswer> {
  // Always in the same order, so that two that meet wait for each other instead of both being stuck.
  for (const count of inOrder(asked.counts)) {
    yield* ensureUsage(ctx, count);
    // First, since it waits for the same one that is under way: what that has taken is not taken again.
    if (asked.steps > 0 && !(yield* remember(ctx, reservation, count, asked))) continue;
    if (yield* take(ctx, count, asked)) continue;
    const swept = yield* giveBackExpired(ctx, count);
    if (!swept || !(yield* take(ctx, count, asked))) yield* refuse(ctx, count, asked);
  }
  return { ok: true, reservation };
}

function inOrder<T extends BudgetCount>(counts: readonly T[]): T[] {
  return counts.toSorted((a, b) => (a.budget_id < b.budget_id ? -1 : 1));
}

/** Nothing for a budget that was removed meanwhile. */
function* ensureUsage({ db }: SqlContext, { budget_id, stretch }: BudgetCount): Tx<void> {
  const row = db.q
    .selectFrom("budgets")
    .select(["id as budget_id", sql<string>`cast(${stretch} as text)`.as("stretch"), "scope"])
    .where("id", "=", budget_id);
  const insert = db.q.insertInto("budget_usage").columns(["budget_id", "stretch", "scope"]).expression(row);
  yield* changes(insert.onConflict((conflict) => conflict.columns(["budget_id", "stretch"]).doNothing()));
}

/** Adds if there is room, in one statement: the row is the lock, and what is asked of it is asked once it is held. */
function* take({ db }: SqlContext, { budget_id, stretch }: BudgetCount, asked: BudgetReservation): Tx<boolean> {
  const { tokens, cost, steps, tool_calls, seconds } = asked;
  const query = db.q
    .updateTable("budget_usage as u")
    .set({
      reserved_tokens: sql<number>`reserved_tokens + ${tokens}`,
      reserved_cost: sql<number>`reserved_cost + ${cost}`,
      used_steps: sql<number>`used_steps + ${steps}`,
      used_tool_calls: sql<number>`used_tool_calls + ${tool_calls}`,
      used_seconds: sql<number>`used_seconds + ${seconds}`,
    })
    .where("u.budget_id", "=", budget_id)
    .where("u.stretch", "=", stretch)
    .where(hasRoom(asked));
  const taken = yield* changes(query);
  if (taken > 0) return true;
  const budget = yield* first(db.q.selectFrom("budgets").select("id").where("id", "=", budget_id));
  return budget === undefined;
}

/** A tool call takes no tokens and is not refused for them: the model call after it will be. */
function hasRoom({ tokens, cost, steps, tool_calls, seconds }: BudgetReservation) {
  const room = [sql`(b.max_seconds is null or u.used_seconds + ${seconds} < b.max_seconds)`];
  if (steps > 0) {
    room.push(
      sql`(b.max_steps is null or u.used_steps + ${steps} <= b.max_steps)`,
      sql`(b.max_tokens is null or u.used_tokens + u.reserved_tokens + ${tokens} <= b.max_tokens)`,
      sql`(b.max_cost is null or u.used_cost + u.reserved_cost + ${cost} <= b.max_cost)`,
    );
  }
  if (tool_calls > 0)
    room.push(sql`(b.max_tool_calls is null or u.used_tool_calls + ${tool_calls} <= b.max_tool_calls)`);
  return sql<SqlBool>`exists (select 1 from budgets b where b.id = u.budget_id and ${sql.join(room, sql` and `)})`;
}

/** False if it is there already, or its budget was removed meanwhile: then nothing is to be taken. */
function* remember(
  { db }: SqlContext,
  id: string,
  { budget_id, stretch }: BudgetCount,
  { run_id, tokens, cost, ttl_ms }: BudgetReservation,
): Tx<boolean> {
  const expires_at = sql<number>`${sql.raw(db.dialect.nowMs)} + ${sql.lit(Math.ceil(ttl_ms))}`;
  const row = db.q
    .selectFrom("budget_usage")
    .select([
      sql<string>`cast(${id} as text)`.as("id"),
      "budget_id",
      "stretch",
      "scope",
      sql<number>`cast(${cost} as double precision)`.as("cost"),
      sql<number>`cast(${tokens} as bigint)`.as("tokens"),
      expires_at.as("expires_at"),
      sql<string>`cast(${run_id} as text)`.as("run_id"),
    ])
    .where("budget_id", "=", budget_id)
    .where("stretch", "=", stretch);
  const columns = ["id", "budget_id", "stretch", "scope", "cost", "tokens", "expires_at", "run_id"] as const;
  const insert = db.q.insertInto("budget_reservations").columns(columns).expression(row);
  return (yield* changes(insert.onConflict((conflict) => conflict.columns(["id", "budget_id"]).doNothing()))) > 0;
}

/** What nodes that are gone had reserved. */
function* giveBackExpired({ db }: SqlContext, { budget_id, stretch }: BudgetCount): Tx<boolean> {
  const expired = yield* rows(
    db.q
      .deleteFrom("budget_reservations")
      .where("budget_id", "=", budget_id)
      .where("stretch", "=", stretch)
      .where("expires_at", "<=", sql<number>`(select ${sql.raw(db.dialect.nowMs)})`)
      .returning(["tokens", "cost"]),
  );
  for (const { tokens, cost } of expired) yield* release({ db }, { budget_id, stretch }, tokens, cost);
  return expired.length > 0;
}

export async function giveBackReserved(ctx: SqlContext, run_id: string): Promise<void> {
  await ctx.db.transaction(() => giveBackOf(ctx, run_id));
}

function* giveBackOf({ db }: SqlContext, run_id: string): Tx<void> {
  const left = yield* rows(
    db.q
      .deleteFrom("budget_reservations")
      .where("run_id", "=", run_id)
      .returning(["budget_id", "stretch", "tokens", "cost"]),
  );
  for (const { tokens, cost, ...count } of inOrder(left)) yield* release({ db }, count, tokens, cost);
}

function* release({ db }: Pick<SqlContext, "db">, at: BudgetCount, tokens: number, cost: number): Tx<void> {
  yield* changes(
    db.q
      .updateTable("budget_usage")
      .set({
        reserved_tokens: sql<number>`reserved_tokens - ${tokens}`,
        reserved_cost: sql<number>`reserved_cost - ${cost}`,
      })
      .where("budget_id", "=", at.budget_id)
      .where("stretch", "=", at.stretch),
  );
}

function* refuse({ db, now }: SqlContext, { budget_id, stretch }: BudgetCount, asked: BudgetReservation): Tx<never> {
  const row = yield* first(db.q.selectFrom("budgets").selectAll().where("id", "=", budget_id));
  const used = yield* first(
    db.q.selectFrom("budget_usage").selectAll().where("budget_id", "=", budget_id).where("stretch", "=", stretch),
  );
  if (!row || !used) throw new AppError("internal", `Budget ${budget_id} went away while it was asked`);
  const refused: Refused = { ok: false, budget: toBudget(row, used, now()), limit: limitOf(row, used, asked) };
  throw new AppError("budget_exceeded", `Budget ${budget_id} has no room`, { details: { refused } });
}

function limitOf(
  row: Parameters<typeof toBudget>[0],
  used: BudgetUsageRow,
  asked: BudgetReservation,
): Refused["limit"] {
  const over = (max: number | null, taken: number) => max !== null && taken > max;
  if (row.max_seconds !== null && used.used_seconds + asked.seconds >= row.max_seconds) return "seconds";
  if (asked.tool_calls > 0 && over(row.max_tool_calls, used.used_tool_calls + asked.tool_calls)) return "tool_calls";
  if (over(row.max_steps, used.used_steps + asked.steps)) return "steps";
  return over(row.max_tokens, used.used_tokens + used.reserved_tokens + asked.tokens) ? "tokens" : "cost";
}

export async function settleBudget(ctx: SqlContext, spend: BudgetSpend): Promise<void> {
  requireAmounts(spend);
  await ctx.db.transaction(() => settle(ctx, spend));
}

/** A reservation that was given back already is not given back twice. */
function* settle({ db }: SqlContext, spend: BudgetSpend): Tx<void> {
  const { reservation, again = false, counts, tokens, cost, seconds } = spend;
  const held = reservation
    ? yield* rows(
        db.q
          .deleteFrom("budget_reservations")
          .where("id", "=", reservation)
          .returning(["budget_id", "stretch", "tokens", "cost"]),
      )
    : [];
  if (again && held.length === 0) return; // it was done, and only its answer was lost
  for (const count of inOrder(counts)) {
    const own = held.find(({ budget_id }) => budget_id === count.budget_id);
    yield* changes(
      db.q
        .updateTable("budget_usage")
        .set({
          reserved_tokens: sql<number>`reserved_tokens - ${own?.tokens ?? 0}`,
          reserved_cost: sql<number>`reserved_cost - ${own?.cost ?? 0}`,
          used_tokens: sql<number>`used_tokens + ${tokens}`,
          used_cost: sql<number>`used_cost + ${cost ?? 0}`,
          used_seconds: sql<number>`used_seconds + ${seconds}`,
          unpriced_tokens: sql<number>`unpriced_tokens + ${cost === null ? tokens : 0}`,
        })
        .where("budget_id", "=", count.budget_id)
        .where("stretch", "=", count.stretch),
    );
  }
}
