import { DEFAULT_PAGE_LIMIT, type Message } from "@cognition/contract";
import { type SqlBool, sql } from "kysely";
import type { SessionFilter } from "../session-store.ts";
import type { SqlContext } from "./context.ts";
import { requireKnown } from "./known-names.ts";
import { atMost } from "./limit.ts";
import { type MessageRow, toMessage } from "./message-row.ts";
import { pageBounds } from "./page-bounds.ts";
import { scopeTextOf } from "./scope.ts";
import { sessionConditions } from "./session-filter.ts";
import { statement } from "./statement.ts";

export async function listSpokenMessages(
  ctx: SqlContext,
  filter: SessionFilter,
  page: { limit?: number; offset?: number } = {},
): Promise<{ messages: Message[]; total: number }> {
  const { db } = ctx;
  requireKnown("A page of messages", page, ["limit", "offset"]);
  const { limit, offset } = pageBounds(page, DEFAULT_PAGE_LIMIT);
  const conditions = sessionConditions(db, filter);
  const own = scopeTextOf(filter.scope);
  const spoken = db.q
    .selectFrom("sessions as s")
    .where((eb) => eb.and(conditions))
    .where("s.parent_session_id", "is", null)
    .innerJoin("messages as m", "m.session_id", "s.id")
    .where("m.position", "is not", null)
    .where("m.role", "in", ["user", "assistant"])
    .where(sql<SqlBool>`${sql.raw(db.dialect.hasWords("m.content"))}`);
  const [found, counted] = await db.readAll(
    [
      statement(spoken.selectAll("m").orderBy("s.pk").orderBy("m.position").limit(atMost(limit)).offset(offset)),
      statement(spoken.select((eb) => eb.fn.countAll().as("total"))),
    ],
    own,
  );
  const rows = (found?.rows ?? []) as unknown as MessageRow[];
  return { messages: rows.map(toMessage), total: Number(counted?.rows[0]?.total) };
}
