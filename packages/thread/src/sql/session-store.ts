import { AppError, type Session } from "@cognition/contract";
import { sql } from "kysely";
import { removeRestNow } from "../checkpoint/delete-thread.ts";
import type { NewSession, SessionPatch, SessionStore } from "../session-store.ts";
import type { SqlContext } from "./context.ts";
import { placeholders } from "./dialect.ts";
import { fixedQuery } from "./fixed-query.ts";
import { makeForksInherited } from "./inherit-messages.ts";
import { storedJson } from "./json-text.ts";
import { atMost } from "./limit.ts";
import { madeBefore } from "./made-before.ts";
import { pageBounds } from "./page-bounds.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { createSession } from "./session-create.ts";
import { deleteSession } from "./session-delete.ts";
import { sessionConditions } from "./session-filter.ts";
import { mergeConfig, parseNewSession, parseSessionPatch } from "./session-input.ts";
import { type SelectedSession, selectSessions, toSession } from "./session-row.ts";
import { changes, first, type Tx } from "./statement.ts";
import { deletedIn, deletionOf } from "./wake-ups.ts";

const selectOne = fixedQuery<{ session_id: string }>((db, { session_id }) =>
  selectSessions(db).where("s.id", "=", session_id),
);
const selectOwn = fixedQuery<{ session_id: string; own: string }>((db, { session_id, own }) =>
  selectSessions(db).where("s.id", "=", session_id).where("s.scope", "=", own),
);

export function createSessionStore(ctx: SqlContext): SessionStore {
  const { db } = ctx;

  async function getSession(session_id: string, scope?: Session["scopes"]): Promise<Session | null> {
    const own = scopeTextOf(scope);
    const one = own === undefined ? selectOne(db, { session_id }) : selectOwn(db, { session_id, own });
    const [found] = await db.readAll([one], own);
    const row = found?.rows[0] as unknown as SelectedSession | undefined;
    return row ? toSession(row) : null;
  }

  return {
    getSession,
    createSession: async (session: NewSession) => {
      const input = parseNewSession(session);
      return db.transaction(() => createSession(ctx, input));
    },
    listSessions: async ({ limit, offset, before, ...filter } = {}) => {
      const page = pageBounds({ limit, offset });
      const older = before === undefined ? [] : [madeBefore("sessions", "s", before)];
      const conditions = [...sessionConditions(db, filter), ...older];
      const query = selectSessions(db)
        .where((eb) => eb.and(conditions))
        .orderBy("s.pk", "desc");
      return (await db.read(query.limit(atMost(page.limit)).offset(page.offset), scopeTextOf(filter.scope))).map(
        toSession,
      );
    },
    countSessions: async (filter = {}) => {
      const conditions = sessionConditions(db, filter);
      const query = db.q.selectFrom("sessions as s").select((eb) => eb.fn.countAll<number>().as("total"));
      const [row] = await db.read(
        query.where((eb) => eb.and(conditions)),
        scopeTextOf(filter.scope),
      );
      return row?.total ?? 0;
    },
    updateSession: async (session_id, patch, scope) => {
      const input = parseSessionPatch(patch);
      if (Object.values(input).every((value) => value === undefined)) return getSession(session_id, scope);
      const scoped = scope === undefined ? undefined : scopeText(scope);
      return db.transaction(() => updateSession(ctx, session_id, scoped, input));
    },
    updateMessageCount: async (session_id, delta) => {
      if (!Number.isSafeInteger(delta))
        throw new AppError("validation_failed", `delta must be a whole number, not ${delta}`);
      const counted = sql<number>`case when message_count + ${delta} < 0 then 0 else message_count + ${delta} end`;
      const query = db.q.updateTable("sessions").set({ message_count: counted }).where("id", "=", session_id);
      if ((await db.transaction(() => changes(query))) === 0) throw sessionNotFound(session_id);
    },
    deleteSession: async (session_id, scope) => {
      const scoped = scope === undefined ? undefined : scopeText(scope);
      await makeForksInherited(ctx, session_id, scoped);
      const deleted = await db.transaction(() => deleteSession(ctx, session_id, scoped));
      if (!deleted) return false;
      db.wakeUps.send(deletionOf(session_id));
      await removeRestNow(ctx, deleted);
      return true;
    },
    findDeletedSessions: async (session_ids) => {
      const sql = placeholders(
        db.dialect,
        `select distinct t.deleted_session as id from threads t where t.deleted_session in (${db.dialect.eachText})
           and not exists (select 1 from sessions s where s.id = t.deleted_session)`,
      );
      const [found] = await db.readAll([{ sql, params: [JSON.stringify(session_ids)] }]);
      return found?.rows.map(({ id }) => id as string) ?? [];
    },
    watchDeletions: async (onDeleted) => db.wakeUps.listen((news) => deletedIn(news).forEach(onDeleted)),
  };
}

export function sessionNotFound(session_id: string): AppError {
  return new AppError("session_not_found", `There is no session ${session_id}`);
}

/** The first write is the lock, so the config read with it is the one that is merged. */
function* updateSession(
  { db, now }: SqlContext,
  session_id: string,
  scope: string | undefined,
  patch: ReturnType<typeof parseSessionPatch>,
): Tx<Session | null> {
  const touch = db.q.updateTable("sessions").set({ updated_at: now() }).where("id", "=", session_id);
  const stored = yield* first((scope === undefined ? touch : touch.where("scope", "=", scope)).returning("config"));
  if (!stored) return null;
  const { config, metadata, ...columns } = patch as SessionPatch;
  const set = {
    ...Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)),
    ...(config && { config: mergeConfig(storedJson(stored.config, `The config of session ${session_id}`), config) }),
    ...(metadata && { metadata: JSON.stringify(metadata) }),
  };
  yield* changes(db.q.updateTable("sessions").set(set).where("id", "=", session_id));
  const row = yield* first(selectSessions(db).where("s.id", "=", session_id));
  return row ? toSession(row) : null;
}
