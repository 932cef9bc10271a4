import type { Budget, BudgetPeriod, Scope } from "@cognition/contract";
import type { Selectable } from "kysely";
import type { StoredBudget } from "../budget-store.ts";
import type { Tables } from "./tables.ts";

export type BudgetRow = Selectable<Tables["budgets"]>;
export type BudgetUsageRow = Selectable<Tables["budget_usage"]>;

/** The stretch that a budget counts at a moment, as far as it does not depend on who asks. */
export function stretchOf(
  { period, session_id }: Pick<BudgetRow, "period" | "session_id">,
  now: string,
): string | null {
  switch (period as BudgetPeriod) {
    case "day":
      return now.slice(0, "YYYY-MM-DD".length);
    case "month":
      return now.slice(0, "YYYY-MM".length);
    case "total":
      return "";
    case "session":
      return session_id === "" ? null : session_id;
    case "run":
      return null;
  }
}

export function toStoredBudget(row: BudgetRow): StoredBudget {
  const { id, max_cost, max_tokens, max_steps, max_tool_calls, max_seconds } = row;
  return {
    id,
    scope: JSON.parse(row.scope) as Scope,
    agent_name: row.agent_name === "" ? null : row.agent_name,
    session_id: row.session_id === "" ? null : row.session_id,
    period: row.period as BudgetPeriod,
    ...{ max_cost, max_tokens, max_steps, max_tool_calls, max_seconds },
  };
}

export function toBudget(row: BudgetRow, used: BudgetUsageRow | undefined, now: string): Budget {
  const { used_cost = 0, used_tokens = 0, used_steps = 0, used_tool_calls = 0, used_seconds = 0 } = used ?? {};
  const { unpriced_tokens = 0 } = used ?? {};
  // Sums of fractions that were added and taken away again leave crumbs below zero.
  const reserved_cost = Math.max(0, used?.reserved_cost ?? 0);
  const reserved_tokens = Math.max(0, used?.reserved_tokens ?? 0);
  return {
    ...toStoredBudget(row),
    ...{ used_cost, used_tokens, used_steps, used_tool_calls, used_seconds },
    ...{ reserved_cost, reserved_tokens, unpriced_tokens },
    remaining_cost: left(row.max_cost, used_cost + reserved_cost),
    remaining_tokens: left(row.max_tokens, used_tokens + reserved_tokens),
    remaining_steps: left(row.max_steps, used_steps),
    remaining_tool_calls: left(row.max_tool_calls, used_tool_calls),
    remaining_seconds: left(row.max_seconds, used_seconds),
    resets_at: resetsAt(row.period as BudgetPeriod, now),
  };
}

function left(max: number | null, taken: number): number | null {
  return max === null ? null : Math.max(0, max - taken);
}

function resetsAt(period: BudgetPeriod, now: string): string | null {
  const at = new Date(now);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  if (period === "day") return new Date(Date.UTC(year, month, day + 1)).toISOString();
  return period === "month" ? new Date(Date.UTC(year, month + 1, 1)).toISOString() : null;
}
