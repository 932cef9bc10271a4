import { type Budget, PutBudgets, parseInput, type Scope } from "@cognition/contract";
import { sql } from "kysely";
import type { BudgetCount, BudgetStore } from "../budget-store.ts";
import { putBudgets } from "./budget-limits.ts";
import { pruneBudgetUsage } from "./budget-prune.ts";
import { giveBackReserved, reserveBudget, settleBudget } from "./budget-reserve.ts";
import { type BudgetRow, type BudgetUsageRow, stretchOf, toBudget, toStoredBudget } from "./budget-row.ts";
import type { SqlContext } from "./context.ts";
import { definitionVersion } from "./definition-store.ts";
import { scopeText, scopeTextOf } from "./scope.ts";

const BUDGETS = "budgets";

export function createBudgetStore(ctx: SqlContext): BudgetStore {
  const { db } = ctx;
  return {
    listBudgets: (scope) => listBudgets(ctx, scope),
    putBudgets: async (scope, given) => {
      const { budgets: limits } = parseInput(PutBudgets, { budgets: given }, "body");
      await db.transaction(() => putBudgets(ctx, scope, limits));
      return listBudgets(ctx, scope);
    },
    listLimits: async (scopes) => {
      if (scopes?.length === 0) return [];
      const query = db.q.selectFrom("budgets").selectAll().orderBy("id");
      const rows = await db.read(scopes ? query.where("scope", "in", scopes.map(scopeText)) : query);
      return rows.map(toStoredBudget);
    },
    limitVersion: () => definitionVersion(ctx, BUDGETS),
    reserve: (reservation) => reserveBudget(ctx, reservation),
    settle: (spend) => settleBudget(ctx, spend),
    giveBack: (run_id) => giveBackReserved(ctx, run_id),
    pruneBudgetUsage: (before) => pruneBudgetUsage(ctx, before),
    secondsLeft: (counts) => secondsLeft(ctx, counts),
  };
}

async function listBudgets({ db, now }: SqlContext, scope: Scope | undefined): Promise<Budget[]> {
  const at = now();
  const own = scopeTextOf(scope);
  const query = db.q.selectFrom("budgets").selectAll().orderBy("created_at").orderBy("id");
  const rows = await db.read(own === undefined ? query : query.where("scope", "=", own), own);
  if (rows.length === 0) return [];
  const stretches = [...new Set(rows.flatMap((row) => stretchOf(row, at) ?? []))];
  const counted = stretches.length === 0 ? [] : await db.read(usageOf({ db }, rows, stretches), own);
  const byKey = new Map(counted.map((row) => [keyOf(row.budget_id, row.stretch), row]));
  return rows.map((row) => toBudget(row, byKey.get(keyOf(row.id, stretchOf(row, at))), at));
}

/** What a dead node has left is given back when room is looked for; until then it is only not shown. */
function usageOf({ db }: Pick<SqlContext, "db">, rows: readonly BudgetRow[], stretches: readonly string[]) {
  const ids = rows.map(({ id }) => id);
  const expired = (sum: string) => sql`coalesce((select ${sql.raw(sum)} from budget_reservations r
    where r.budget_id = budget_usage.budget_id and r.stretch = budget_usage.stretch
      and r.expires_at <= (select ${sql.raw(db.dialect.nowMs)})), 0)`;
  return db.q
    .selectFrom("budget_usage")
    .selectAll()
    .select([
      sql<number>`reserved_tokens - ${expired("cast(sum(r.tokens) as bigint)")}`.as("reserved_tokens"),
      sql<number>`reserved_cost - ${expired("sum(r.cost)")}`.as("reserved_cost"),
    ])
    .where("budget_id", "in", ids)
    .where("stretch", "in", stretches);
}

function keyOf(budget_id: BudgetUsageRow["budget_id"], stretch: string | null): string {
  return JSON.stringify([budget_id, stretch]);
}

async function secondsLeft({ db }: SqlContext, counts: readonly BudgetCount[]): Promise<number | null> {
  const left: number[] = [];
  for (const { budget_id, stretch } of counts) {
    const query = db.q
      .selectFrom("budgets as b")
      .leftJoin("budget_usage as u", (join) => join.onRef("u.budget_id", "=", "b.id").on("u.stretch", "=", stretch))
      .select(["b.max_seconds", "u.used_seconds"])
      .where("b.id", "=", budget_id);
    const [row] = await db.read(query);
    if (row && row.max_seconds !== null) left.push(row.max_seconds - (row.used_seconds ?? 0));
  }
  return left.length === 0 ? null : Math.max(0, Math.min(...left));
}
