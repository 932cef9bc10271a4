import { AppError, type Session } from "@cognition/contract";
import { sql } from "kysely";
import type { SqlContext } from "./context.ts";
import { rebuildMessages } from "./message-projection.ts";
import { scopeText } from "./scope.ts";
import type { parseNewSession } from "./session-input.ts";
import { selectSessions, toSession } from "./session-row.ts";
import { changes, first, type Tx } from "./statement.ts";

type NewSessionInput = ReturnType<typeof parseNewSession>;

/** Makes the thread, or takes over one of the same scope that has no session yet, and then the session on it. */
export function* createSession(ctx: SqlContext, input: NewSessionInput): Tx<Session> {
  const { db, now, newId } = ctx;
  const { id = newId(), thread_id = newId(), scopes, config, metadata, parent, ...columns } = input;
  const scope = scopeText(scopes);
  const created_at = now();
  const thread = db.q.insertInto("threads").values({ thread_id, scope, created_at });
  const made = yield* changes(thread.onConflict((conflict) => conflict.column("thread_id").doNothing()));
  if (made === 0) yield* takeThreadOver(db, thread_id, scope);
  const session = db.q.insertInto("sessions").values({
    ...columns,
    id,
    thread_id,
    scope,
    status: "active",
    config: JSON.stringify(config),
    metadata: JSON.stringify(metadata),
    parent_session_id: parent?.session_id ?? null,
    parent_checkpoint_id: parent?.checkpoint_id ?? null,
    created_at,
    updated_at: created_at,
  });
  const stored = yield* changes(session.onConflict((conflict) => conflict.doNothing()));
  if (stored === 0) throw taken(`Session ${id}, or a session on thread ${thread_id},`);
  if (made === 0) yield* rebuildMessages(ctx, id);
  const row = yield* first(selectSessions(db).where("s.id", "=", id));
  if (!row) throw new AppError("internal", `Session ${id} was stored and can't be found`);
  return toSession(row);
}

/** Whoever writes to the thread knows of no session, and of no messages that must follow: a new generation has it look again. */
function* takeThreadOver(db: SqlContext["db"], thread_id: string, scope: string): Tx<void> {
  const query = db.q.selectFrom("threads").select(["scope", "deleted_at"]).where("thread_id", "=", thread_id);
  const thread = yield* first(query.modifyEnd(sql.raw(db.dialect.lockRows)));
  // Of another scope's thread nothing is told but that the name is taken.
  if (thread?.scope !== scope) throw taken(`Thread ${thread_id}`);
  if (thread.deleted_at) throw new AppError("thread_deleted", `Thread ${thread_id} was deleted; it takes no session`);
  const generation = sql<number>`generation + 1`;
  yield* changes(db.q.updateTable("threads").set({ generation }).where("thread_id", "=", thread_id));
}

function taken(what: string): AppError {
  return new AppError(
    "already_exists",
    `${what} exists already; nothing was stored. Leave the id out to get a new one.`,
  );
}
