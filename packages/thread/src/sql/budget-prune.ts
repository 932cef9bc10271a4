import { type SqlBool, sql } from "kysely";
import type { SqlContext } from "./context.ts";
import { requireDate } from "./input-checks.ts";
import { changes } from "./statement.ts";

/** What no run can count against any more. A run that ended may be resumed, and then goes on counting where it was. */
export async function pruneBudgetUsage({ db }: SqlContext, before: Date): Promise<number> {
  requireDate("before", before);
  const at = before.toISOString();
  const over = sql<SqlBool>`exists (select 1 from budgets b where b.id = budget_usage.budget_id and (
    (b.period = 'day' and budget_usage.stretch < ${at.slice(0, "YYYY-MM-DD".length)})
    or (b.period = 'month' and budget_usage.stretch < ${at.slice(0, "YYYY-MM".length)})
    or (b.period = 'run' and not exists (select 1 from runs r where r.id = budget_usage.stretch
      and (r.finished_at is null or r.finished_at >= ${at})))
    or (b.period = 'session' and not exists (select 1 from sessions s where s.id = budget_usage.stretch))))`;
  const held = sql<SqlBool>`not exists (select 1 from budget_reservations h where h.budget_id = budget_usage.budget_id
    and h.stretch = budget_usage.stretch and h.expires_at > (select ${sql.raw(db.dialect.nowMs)}))`;
  return db.transaction(() => changes(db.q.deleteFrom("budget_usage").where(over).where(held)));
}
