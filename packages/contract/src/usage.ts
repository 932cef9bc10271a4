import { z } from "zod";
import { Id } from "./id.ts";
import { StringMap } from "./json.ts";
import { MAX_NAME_LENGTH } from "./limits.ts";
import { text } from "./text.ts";
import { Timestamp } from "./time.ts";
import { ModelUsage } from "./token-usage.ts";

export const UsageGroup = z.enum(["scope", "agent", "session", "model", "day"]);
export type UsageGroup = z.infer<typeof UsageGroup>;

const Day = z.iso.date({ error: "must be a day as YYYY-MM-DD" });
const AgentRef = text("agent_name", MAX_NAME_LENGTH, 1);

/** Days are UTC, both ends included. */
export const GetUsage = z
  .strictObject({
    group_by: UsageGroup.default("day"),
    from: Day.optional(),
    to: Day.optional(),
    session_id: Id.optional(),
    agent_name: AgentRef.optional(),
  })
  // Nothing was used between two days in the wrong order, which would pass for an answer.
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    error: "from must not be after to",
    path: ["from"],
  });
export type GetUsage = z.infer<typeof GetUsage>;

const counts = ModelUsage.extend({ runs: z.int().nonnegative() });

/** `key` is what the row is grouped by: an agent's name, a session's id, a day, or a scope as JSON. */
export const UsageRow = counts.extend({ key: z.string() });
export type UsageRow = z.infer<typeof UsageRow>;

export const Usage = z.strictObject({ group_by: UsageGroup, rows: z.array(UsageRow), total: counts });
export type Usage = z.infer<typeof Usage>;

/** What a budget counts by itself: each day or month (UTC), each run, each session, or all time. */
export const BudgetPeriod = z.enum(["day", "month", "total", "session", "run"]);
export type BudgetPeriod = z.infer<typeof BudgetPeriod>;

const amount = z.number().nonnegative();
const count = z.int().nonnegative();

/** A limit of null is no limit. A step is one model call; seconds are those a run has been worked on. */
const limits = {
  max_cost: amount.nullable(),
  max_tokens: count.nullable(),
  max_steps: count.nullable(),
  max_tool_calls: count.nullable(),
  max_seconds: amount.nullable(),
};

/**
 * `used` is that of the present day or month; of a budget for each run or each session, which has no one number, it is
 * zero. `reserved` counts for model calls that have begun and not yet settled; `unpriced_tokens` were used on models
 * of unknown price, which `used_cost` leaves out.
 */
export const Budget = z.strictObject({
  id: z.string(),
  scope: StringMap,
  agent_name: z.string().nullable(),
  session_id: z.string().nullable(),
  period: BudgetPeriod,
  ...limits,
  used_cost: amount,
  used_tokens: count,
  used_steps: count,
  used_tool_calls: count,
  used_seconds: amount,
  reserved_cost: amount,
  reserved_tokens: count,
  unpriced_tokens: count,
  remaining_cost: amount.nullable(),
  remaining_tokens: count.nullable(),
  remaining_steps: count.nullable(),
  remaining_tool_calls: count.nullable(),
  remaining_seconds: amount.nullable(),
  resets_at: Timestamp.nullable(),
});
export type Budget = z.infer<typeof Budget>;

export const BudgetList = z.strictObject({ budgets: z.array(Budget) });
export type BudgetList = z.infer<typeof BudgetList>;

export const BudgetLimit = z
  .strictObject({
    agent_name: AgentRef.nullable().default(null),
    session_id: Id.nullable().default(null),
    period: BudgetPeriod.default("month"),
    max_cost: limits.max_cost.default(null),
    max_tokens: limits.max_tokens.default(null),
    max_steps: limits.max_steps.default(null),
    max_tool_calls: limits.max_tool_calls.default(null),
    max_seconds: limits.max_seconds.default(null),
  })
  .refine((given) => Object.keys(limits).some((name) => given[name as keyof typeof limits] !== null), {
    error: `a budget needs one of ${Object.keys(limits).join(", ")}`,
  });
export type BudgetLimit = z.infer<typeof BudgetLimit>;
export type BudgetLimitInput = z.input<typeof BudgetLimit>;

/** Replaces the limits of the caller's scope; one for the same agent, session and period keeps what it has counted. */
export const PutBudgets = z.strictObject({ budgets: z.array(BudgetLimit).max(100) }).superRefine(({ budgets }, ctx) => {
  const seen = new Set<string>();
  for (const [index, { agent_name, session_id, period }] of budgets.entries()) {
    const key = JSON.stringify([agent_name, session_id, period]);
    const message = "there is one for the same agent, session and period already";
    if (seen.has(key)) ctx.addIssue({ code: "custom", path: ["budgets", index], message });
    seen.add(key);
  }
});
export type PutBudgets = z.infer<typeof PutBudgets>;
export type PutBudgetsInput = z.input<typeof PutBudgets>;
