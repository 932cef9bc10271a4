import type { BudgetLimit, Scope } from "@cognition/contract";
import { sql } from "kysely";
import { type BudgetRow, stretchOf } from "./budget-row.ts";
import type { SqlContext } from "./context.ts";
import { raiseVersion } from "./definition-store.ts";
import { scopeText } from "./scope.ts";
import { hasMember } from "./session-filter.ts";
import { changes, first, rows, type Tx } from "./statement.ts";

/** The limits of a scope, all at once. What the kept ones have counted stays. */
export function* putBudgets(ctx: SqlContext, given: Scope, limits: readonly BudgetLimit[]): Tx<void> {
  const { db } = ctx;
  const scope = scopeText(given);
  // First of all, since it is the lock: two writers of one scope follow each other.
  yield* raiseVersion(ctx, "budgets");
  const kept: string[] = [];
  for (const limit of limits) kept.push(yield* putOne(ctx, scope, given, limit));
  const others = db.q.deleteFrom("budgets").where("scope", "=", scope);
  yield* changes(kept.length > 0 ? others.where("id", "not in", kept) : others);
}

function* putOne(ctx: SqlContext, scope: string, given: Scope, limit: BudgetLimit): Tx<string> {
  const { db, now, newId } = ctx;
  const at = now();
  const { period, agent_name, session_id, max_cost, max_tokens, max_steps, max_tool_calls, max_seconds } = limit;
  const target = { scope, agent_name: agent_name ?? "", session_id: session_id ?? "", period };
  const maxima = { max_cost, max_tokens, max_steps, max_tool_calls, max_seconds, updated_at: at };
  const found = db.q.updateTable("budgets").set(maxima);
  const [known] = yield* rows(
    found
      .where("scope", "=", target.scope)
      .where("agent_name", "=", target.agent_name)
      .where("session_id", "=", target.session_id)
      .where("period", "=", target.period)
      .returning("id"),
  );
  if (known) return known.id;
  const row = { ...target, ...maxima, id: newId(), created_at: at };
  yield* changes(db.q.insertInto("budgets").values(row));
  yield* countWhatWas(ctx, row, given, at);
  return row.id;
}

/** A month's limit that is set in its middle is one on the whole month, in tokens and cost: nothing else is kept of ended runs. */
function* countWhatWas({ db }: SqlContext, budget: BudgetRow, scope: Scope, now: string): Tx<void> {
  const stretch = stretchOf(budget, now);
  if (stretch === null) return;
  let spent = db.q
    .selectFrom("run_usage")
    .select([
      sql<number | null>`sum(estimated_cost)`.as("cost"),
      sql<number | null>`sum(input_tokens + output_tokens)`.as("tokens"),
      sql<number | null>`sum(case when estimated_cost is null then input_tokens + output_tokens else 0 end)`.as(
        "unpriced",
      ),
    ]);
  for (const [key, value] of Object.entries(scope)) spent = spent.where(hasMember(db, "scope", key, value));
  if (budget.agent_name !== "") spent = spent.where("agent_name", "=", budget.agent_name);
  if (budget.session_id !== "") spent = spent.where("session_id", "=", budget.session_id);
  if (budget.period === "day") spent = spent.where("day", "=", stretch);
  if (budget.period === "month") spent = spent.where("day", ">=", `${stretch}-01`).where("day", "<=", `${stretch}-31`);
  const was = yield* first(spent);
  const counts = {
    used_cost: Number(was?.cost ?? 0),
    used_tokens: Number(was?.tokens ?? 0),
    unpriced_tokens: Number(was?.unpriced ?? 0),
  };
  const row = { budget_id: budget.id, stretch, scope: budget.scope, ...counts };
  yield* changes(db.q.insertInto("budget_usage").values(row));
}
