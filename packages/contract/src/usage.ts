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
export const GetUsage = z.strictObject({
  group_by: UsageGroup.default("day"),
  from: Day.optional(),
  to: Day.optional(),
  session_id: Id.optional(),
  agent_name: AgentRef.optional(),
});
export type GetUsage = z.infer<typeof GetUsage>;

const counts = ModelUsage.extend({ runs: z.int().nonnegative() });

/** `key` is what the row is grouped by: an agent's name, a session's id, a day, or a scope as JSON. */
export const UsageRow = counts.extend({ key: z.string() });
export type UsageRow = z.infer<typeof UsageRow>;

export const Usage = z.strictObject({ group_by: UsageGroup, rows: z.array(UsageRow), total: counts });
export type Usage = z.infer<typeof Usage>;

export const BudgetPeriod = z.enum(["day", "month", "total"]);
export type BudgetPeriod = z.infer<typeof BudgetPeriod>;

const amount = z.number().nonnegative().nullable();
const tokens = z.int().nonnegative().nullable();

/** A limit of null is no limit. `reserved` counts for model calls that have begun and not yet settled. */
export const Budget = z.strictObject({
  id: z.string(),
  scope: StringMap,
  agent_name: z.string().nullable(),
  session_id: z.string().nullable(),
  period: BudgetPeriod,
  max_cost: amount,
  max_tokens: tokens,
  used_cost: z.number().nonnegative(),
  used_tokens: z.int().nonnegative(),
  reserved_cost: z.number().nonnegative(),
  reserved_tokens: z.int().nonnegative(),
  remaining_cost: amount,
  remaining_tokens: tokens,
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
    max_cost: amount.default(null),
    max_tokens: tokens.default(null),
  })
  .refine((limit) => limit.max_cost !== null || limit.max_tokens !== null, {
    error: "a budget needs max_cost or max_tokens",
  });
export type BudgetLimit = z.infer<typeof BudgetLimit>;

/** Replaces the limits of the caller's scope. */
export const PutBudgets = z.strictObject({ budgets: z.array(BudgetLimit).max(100) });
export type PutBudgets = z.infer<typeof PutBudgets>;
export type PutBudgetsInput = z.input<typeof PutBudgets>;
