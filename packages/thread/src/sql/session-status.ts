import type { SqlContext } from "./context.ts";
import { fixedQuery } from "./fixed-query.ts";
import type { Statement } from "./statement.ts";

export type SessionStatus = "active" | "error" | "waiting_for_approval";

/** A session that somebody set inactive stays so. */
export function setSessionStatus({ db, now }: SqlContext, session_id: string, status: SessionStatus): Statement {
  return updateStatus(db, { session_id, status, now: now() });
}

const updateStatus = fixedQuery<{ session_id: string; status: SessionStatus; now: string }>(({ q }, values) =>
  q
    .updateTable("sessions")
    .set({ status: values.status, updated_at: values.now })
    .where("id", "=", values.session_id)
    .where("status", "<>", "inactive"),
);
