import { AppError, type Message, type Run, type StoredEvent } from "@cognition/contract";
import { sql } from "kysely";
import type { NewRun, RunStore } from "../storage.ts";
import type { SqlContext } from "./context.ts";
import { isUniqueViolation } from "./errors.ts";
import { refuseEnd } from "./event-append.ts";
import { insertEvents, storedEvents } from "./event-rows.ts";
import { claimKey, mismatch } from "./idempotency-store.ts";
import { inheritMessages } from "./inherit-messages.ts";
import { jsonText } from "./json-text.ts";
import { toMessage } from "./message-row.ts";
import { insertMessage } from "./message-store.ts";
import { setSessionStatus } from "./run-end.ts";
import { IS_OPEN, type RunRow, toRun } from "./run-row.ts";
import { sessionNotFound } from "./session-store.ts";
import { all, first, rows, statement, type Tx } from "./statement.ts";
import { advanceThread } from "./thread-row.ts";
import { writeThread } from "./write-thread.ts";

type Admission = Awaited<ReturnType<RunStore["createRun"]>>;
type Admitted = Admission & { events: StoredEvent[] };
type Place = { thread: number; scope: string; status: string; agent_name: string };

/** What an idempotency key's row remembers of a run. */
interface Response {
  run_id: string;
  message_id: string | null;
}

export async function createRun(ctx: SqlContext, run: NewRun): Promise<Admission> {
  const { session_id } = run;
  run.events?.forEach(refuseEnd);
  const id = run.id ?? ctx.newId();
  const input = jsonText(run.input, "input");
  try {
    const { events, ...admission } = await writeThread(ctx.db, { session_id }, () => admit(ctx, run, id, input));
    ctx.feed.publish(session_id, events);
    return admission;
  } catch (error) {
    if (run.id === undefined || !isUniqueViolation(error)) throw error;
    throw new AppError(
      "already_exists",
      `There is a run ${id} already; nothing was stored. Leave the id out to get a new one.`,
    );
  }
}

function* admit(ctx: SqlContext, run: NewRun, id: string, input: string): Tx<Admitted> {
  const place = yield* findPlace(ctx, run.session_id);
  const earlier = yield* findEarlier(ctx, run, place);
  if (earlier) return { ...earlier, created: false, events: [] };
  yield* refuseIfNotReady(ctx, run, place);
  yield* inheritMessages(ctx, run.session_id);
  const row = yield* insertRun(ctx, run, { id, input, place });
  const { message: given, session_id } = run;
  const message = given ? yield* insertMessage(ctx, { ...given, session_id, run_id: id }) : null;
  const events = yield* announce(ctx, run, id);
  if (run.idempotency)
    yield* remember(ctx, run.idempotency.key, place.scope, { run_id: id, message_id: message?.id ?? null });
  // A new message is the answer to an error; the session is itself again.
  if (place.status === "error") yield* all([setSessionStatus(ctx, session_id, "active")]);
  return { run: toRun(row), message, created: true, events };
}

function* findPlace({ db }: SqlContext, session_id: string): Tx<Place> {
  const place = yield* first(
    db.q
      .selectFrom("sessions")
      .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
      .select(["threads.pk as thread", "sessions.scope", "sessions.status", "sessions.agent_name"])
      .where("sessions.id", "=", session_id),
  );
  if (!place) throw sessionNotFound(session_id);
  return place;
}

function* findEarlier(
  ctx: SqlContext,
  run: NewRun,
  { scope }: Place,
): Tx<{ run: Run; message: Message | null } | undefined> {
  const { session_id, idempotency } = run;
  if (!idempotency) return undefined;
  const { q } = ctx.db;
  const claim = yield* claimKey(ctx, { ...idempotency, scope: JSON.parse(scope) });
  if (claim.state === "new") return undefined;
  // The key is a request's of another kind, or a run's of another session.
  const { run_id = "", message_id = null } = claim.state === "done" ? (claim.response as Partial<Response>) : {};
  const row = yield* first(
    q.selectFrom("runs").selectAll().where("id", "=", run_id).where("session_id", "=", session_id),
  );
  if (!row) throw mismatch(idempotency.key);
  const ofSession = q.selectFrom("messages").selectAll().where("session_id", "=", session_id);
  const message = message_id === null ? undefined : yield* first(ofSession.where("id", "=", message_id));
  return { run: toRun(row), message: message ? toMessage(message) : null };
}

function* refuseIfNotReady({ db }: SqlContext, { session_id, on_busy }: NewRun, { status }: Place): Tx<void> {
  if (status === "inactive") {
    throw new AppError(
      "session_inactive",
      `Session ${session_id} is inactive; nothing was stored. Set it active to go on.`,
    );
  }
  const open = yield* rows(
    db.q.selectFrom("runs").select(["id", "status"]).where("session_id", "=", session_id).where(IS_OPEN).orderBy("pk"),
  );
  const waiting = open.find((run) => run.status === "waiting_for_approval");
  if (waiting) {
    const message = `Run ${waiting.id} of session ${session_id} waits for a human; nothing was stored. Answer or abort it first.`;
    throw new AppError("waiting_for_approval", message, { details: { run_id: waiting.id } });
  }
  if (on_busy === "reject" && open[0]) {
    const message = `Session ${session_id} is busy with run ${open[0].id}; nothing was stored`;
    throw new AppError("session_busy", message, { details: { run_id: open[0].id } });
  }
}

function* insertRun(
  { db, now }: SqlContext,
  run: NewRun,
  { id, input, place }: { id: string; input: string; place: Place },
): Tx<RunRow> {
  const query = db.q.insertInto("runs").values({
    id,
    session_id: run.session_id,
    thread: place.thread,
    scope: place.scope,
    status: "queued",
    resumes: run.resumes ?? null,
    agent_name: run.agent_name ?? place.agent_name,
    agent_revision: run.agent_revision ?? null,
    model: run.model ?? null,
    input,
    trace_id: run.trace_id ?? null,
    callback_url: callbackOf(run),
    created_at: now(),
  });
  return (yield* first(query.returningAll())) as RunRow;
}

/** Who resumes a run goes on with its work, and whoever waits for its end still waits. */
function callbackOf({ callback_url, resumes }: NewRun) {
  if (callback_url !== undefined || !resumes) return callback_url ?? null;
  return sql<string | null>`(select r.callback_url from runs r where r.id = ${resumes})`;
}

function* announce({ db, now }: SqlContext, { session_id, events = [] }: NewRun, run_id: string): Tx<StoredEvent[]> {
  if (events.length === 0) return [];
  const batch = { session_id, run_id, events, created_at: now() };
  const advance = advanceThread(db, { session_id }, { events: events.length });
  const [thread] = yield* all([advance, ...insertEvents(db.dialect, batch)]);
  return storedEvents(batch, thread?.rows[0]?.event_seq as number);
}

function* remember({ db }: SqlContext, key: string, scope: string, response: Response): Tx<void> {
  const row = db.q.updateTable("idempotency_keys").set({ response: JSON.stringify(response) });
  yield* all([statement(row.where("scope", "=", scope).where("key", "=", key))]);
}
