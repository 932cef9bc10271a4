import { AppError, type Budget, type Scope } from "@cognition/contract";
import type { BudgetAnswer, BudgetReservation } from "@cognition/thread";

type Refused = Extract<BudgetAnswer, { ok: false }>;

const PERIODS: Readonly<Record<Budget["period"], string>> = {
  day: "for each day",
  month: "for each month",
  total: "for all time",
  session: "for each session",
  run: "for each run",
};

/** What stands in the way, how much of it is used, what was kept and how to go on. */
export function budgetExceeded(
  { budget, limit }: Refused,
  asked: Pick<BudgetReservation, "tokens" | "cost" | "seconds">,
): AppError {
  const max = budget[`max_${limit}`];
  // The time since it was last counted is used, whatever became of the call; it is counted when the run has ended.
  const used = budget[`used_${limit}`] + (limit === "seconds" ? asked.seconds : 0);
  const needs = { tokens: asked.tokens, cost: asked.cost, steps: 1, tool_calls: 1, seconds: 0 }[limit];
  const next = needs > 0 ? `, and the next call needs about ${show(limit, needs)}` : "";
  const reserved = limit === "tokens" || limit === "cost" ? budget[`reserved_${limit}`] : 0;
  const others = reserved > 0 ? `, ${show(limit, reserved)} reserved for calls that are under way` : "";
  const message =
    `The budget of ${describe(budget)} allows ${show(limit, max ?? 0)} ${PERIODS[budget.period]}; ` +
    `${show(limit, used)} used${others}${next}. The run was stopped and what it did is kept: ` +
    "raise the limit (PUT /budgets) and resume the session to go on.";
  return new AppError("budget_exceeded", message, { details: { budget_id: budget.id, limit, max, used } });
}

/** Named without another scope's values: a wider budget that stops a run may be nobody's business. */
function describe({ agent_name, session_id, scope }: Budget): string {
  const parts = [
    ...(session_id === null ? [] : [`session ${session_id}`]),
    ...(agent_name === null ? [] : [`agent ${agent_name}`]),
    ...scopeParts(scope),
  ];
  return parts.length > 0 ? parts.join(", ") : "this server";
}

function scopeParts(scope: Scope): string[] {
  return Object.entries(scope).map(([key, value]) => `${key} ${value}`);
}

function show(limit: Refused["limit"], value: number): string {
  if (limit === "cost") return `$${Number(value.toFixed(6))}`;
  const words = { tokens: "tokens", steps: "model calls", tool_calls: "tool calls", seconds: "seconds" };
  return `${Math.round(value * 10) / 10} ${words[limit]}`;
}
