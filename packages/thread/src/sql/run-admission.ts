import { AppError, type Message, type Run, type StoredEvent } from "@cognition/contract";
import type { Admission, NewRun } from "../run-store.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { prepared } from "./dialect.ts";
import { isUniqueViolation } from "./errors.ts";
import { refuseEnd } from "./event-append.ts";
import { insertEvents, storedEvents } from "./event-rows.ts";
import { fixedQuery } from "./fixed-query.ts";
import { claimKey, mismatch } from "./idempotency-store.ts";
import { inheritMessages } from "./inherit-messages.ts";
import { requireLease } from "./input-checks.ts";
import { jsonText } from "./json-text.ts";
import { ONE } from "./limit.ts";
import { toMessage } from "./message-row.ts";
import { insertMessage } from "./message-store.ts";
import { abortRuns } from "./run-abort.ts";
import { isFree, toClaimed } from "./run-claim.ts";
import { IS_OPEN, type RunColumns, type RunRow, toRun } from "./run-row.ts";
import { type RunSessionRow, runSessionColumns } from "./run-session-row.ts";
import { scopeText } from "./scope.ts";
import { setSessionStatus } from "./session-status.ts";
import { sessionNotFound } from "./session-store.ts";
import { all, first, type Statement, type Tx } from "./statement.ts";
import { advanceThread } from "./thread-row.ts";
import { writeThread } from "./write-thread.ts";

type Admitted = Admission & { events: StoredEvent[] };
interface Place extends RunSessionRow {
  thread: number;
  status: string;
  inherits: number;
  head: string | null;
  epoch: number;
  /** 1 while nobody holds the thread. */
  free: number | boolean;
  /** The first of the session's runs that have not ended: only that one can be running, or wait for a human. */
  open: Pick<RunRow, "id" | "status"> | undefined;
}

/** What an idempotency key's row remembers of a run. */
export interface AdmittedRun {
  run_id: string;
  message_id: string | null;
}

export async function createRun(ctx: SqlContext, run: NewRun): Promise<Admission> {
  const { session_id } = run;
  run.events?.forEach(refuseEnd);
  if (run.claim) requireLease("lease_ms", run.claim.lease_ms);
  const id = run.id ?? ctx.newId();
  const input = jsonText(run.input, "input");
  try {
    const { events, ...admission } = await writeThread(ctx.db, { session_id }, () => admit(ctx, run, id, input));
    ctx.feed.publish(session_id, events);
    if (admission.interrupted?.marked.length) ctx.db.wakeUps.send(session_id);
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
  const { session_id } = run;
  const given = run.message && { id: ctx.newId(), ...run.message, session_id, run_id: id };
  const earlier = yield* findEarlier(ctx, run, place, { run_id: id, message_id: given?.id ?? null });
  if (earlier) return { ...earlier, created: false, events: [] };
  refuseIfNotReady(run, place);
  const taken = yield* takeOver(ctx, run, place);
  if (place.inherits === 1) yield* inheritMessages(ctx, run.session_id);
  const claim = (yield* mayBegin(ctx, run, place)) ? run.claim : undefined;
  const { row, events } = yield* insertAnnounced(ctx, run, { id, input, place, claim });
  const message = given ? yield* insertMessage(ctx, given) : null;
  // A new message is the answer to an error; the session is itself again.
  if (place.status === "error") yield* all([setSessionStatus(ctx, session_id, "active")]);
  const admitted = {
    run: { ...toRun(row), ...NOT_BEGUN },
    message,
    created: true,
    ...(claim && { claimed: toClaimed(row, place, { epoch: row.epoch, next_ordinal: nextOrdinal(run) }) }),
  };
  if (!taken) return { ...admitted, events };
  const { ended, marked } = taken;
  return { ...admitted, interrupted: { ended, marked }, events: [...taken.events, ...events] };
}

function* mayBegin({ db }: SqlContext, { claim }: NewRun, { free, open }: Place): Tx<boolean> {
  if (!claim || !free || open) return false;
  const { unless_waiting_outside: scopes = [] } = claim;
  if (scopes.length === 0) return true;
  const [waiting] = yield* all([selectQueuedOutside(db, scopes.map(scopeText).sort())]);
  return waiting?.rows.length === 0;
}

/** Before, between and after the scopes: each is one look into the index, however many runs of these are queued. */
function selectQueuedOutside({ dialect }: Pick<Database, "dialect">, scopes: readonly string[]): Statement {
  const gaps = Array.from({ length: scopes.length + 1 }, (_, i) => {
    const bounds = [...(i > 0 ? ["scope > ?"] : []), ...(i < scopes.length ? ["scope < ?"] : [])];
    return `exists (select 1 from runs where status = 'queued' and ${bounds.join(" and ")})`;
  });
  const params = scopes.flatMap((scope) => [scope, scope]);
  return prepared(dialect, `select 1 as waits where ${gaps.join(" or ")}`, params);
}

const NOT_BEGUN = { status: "queued", attempt: 0, checkpoint_id: null, started_at: null } as const;

function nextOrdinal({ events = [] }: NewRun): number {
  return Math.max(-1, ...events.map(({ ordinal = -1 }) => ordinal)) + 1;
}

function* takeOver(ctx: SqlContext, { session_id, on_busy, deliveryOf }: NewRun, { open }: Place) {
  if (on_busy !== "interrupt" || !open) return undefined;
  return yield* abortRuns(ctx, session_id, undefined, deliveryOf);
}

const selectPlace = fixedQuery<{ session_id: string }>(({ q, dialect }, { session_id }) =>
  q
    .selectFrom("sessions")
    .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
    .select(["threads.pk as thread", "threads.head", "threads.epoch"])
    .select(["sessions.status", "sessions.inherits"])
    .select(runSessionColumns("sessions"))
    .select(isFree("threads", dialect).as("free"))
    .where("sessions.id", "=", session_id),
);
const selectOpen = fixedQuery<{ session_id: string }>(({ q }, { session_id }) =>
  q
    .selectFrom("runs")
    .select(["id", "status"])
    .where("session_id", "=", session_id)
    .where(IS_OPEN)
    .orderBy("pk")
    .limit(ONE),
);

function* findPlace({ db }: SqlContext, session_id: string): Tx<Place> {
  const [found, open] = yield* all([selectPlace(db, { session_id }), selectOpen(db, { session_id })]);
  if (!found?.rows[0]) throw sessionNotFound(session_id);
  return { ...found.rows[0], open: open?.rows[0] } as unknown as Place;
}

function* findEarlier(
  ctx: SqlContext,
  run: NewRun,
  { scope }: Place,
  response: AdmittedRun,
): Tx<{ run: Run; message: Message | null } | undefined> {
  const { session_id, idempotency } = run;
  if (!idempotency) return undefined;
  const { q } = ctx.db;
  const claim = yield* claimKey(ctx, { ...idempotency, scope: JSON.parse(scope) }, JSON.stringify(response));
  if (claim.state === "new") return undefined;
  // The key is a request's of another kind, or a run's of another session.
  const { run_id = "", message_id = null } = claim.state === "done" ? admittedIn(claim.response) : {};
  const row = yield* first(
    q.selectFrom("runs").selectAll().where("id", "=", run_id).where("session_id", "=", session_id),
  );
  if (!row) throw mismatch(idempotency.key);
  const ofSession = q.selectFrom("messages").selectAll().where("session_id", "=", session_id);
  const message = message_id === null ? undefined : yield* first(ofSession.where("id", "=", message_id));
  return { run: toRun(row), message: message ? toMessage(message) : null };
}

/** Nothing, where the answer that is kept is that of another kind of request. */
export function admittedIn(response: unknown): Partial<AdmittedRun> {
  return (response ?? {}) as Partial<AdmittedRun>;
}

function refuseIfNotReady({ session_id, on_busy }: NewRun, { status, open }: Place): void {
  if (status === "inactive") {
    throw new AppError(
      "session_inactive",
      `Session ${session_id} is inactive; nothing was stored. Set it active to go on.`,
    );
  }
  if (open?.status === "waiting_for_approval") {
    const message = `Run ${open.id} of session ${session_id} waits for a human; nothing was stored. Answer or abort it first.`;
    throw new AppError("waiting_for_approval", message, { details: { run_id: open.id } });
  }
  if (on_busy === "reject" && open) {
    const message = `Session ${session_id} is busy with run ${open.id}; nothing was stored`;
    throw new AppError("session_busy", message, { details: { run_id: open.id } });
  }
}

interface Admitting {
  id: string;
  input: string;
  place: Place;
  /** Who begins with it at once. */
  claim: NewRun["claim"];
}

/** The run and what is told of it, in one round trip. Its row is known: giving it back would cost as much as writing it. */
function* insertAnnounced(
  ctx: SqlContext,
  run: NewRun,
  admitted: Admitting,
): Tx<{ row: RunColumns; events: StoredEvent[] }> {
  const { db, now } = ctx;
  const { session_id, events = [] } = run;
  const created_at = now();
  const batch = { session_id, run_id: admitted.id, events, created_at };
  const advance = { events: events.length, lease: admitted.claim };
  const announced =
    events.length === 0 && !admitted.claim
      ? []
      : [advanceThread(db, { session_id }, advance), ...insertEvents(db.dialect, batch)];
  const row = newRow(run, admitted, created_at, yield* callbackOf(ctx, run));
  const [, thread] = yield* all([insertNew(db, row), ...announced]);
  return { row, events: events.length === 0 ? [] : storedEvents(batch, thread?.rows[0]?.event_seq as number) };
}

/** Who resumes a run goes on with its work, and whoever waits for its end still waits. */
function* callbackOf({ db }: SqlContext, { callback_url, resumes }: NewRun): Tx<string | null> {
  if (callback_url !== undefined || !resumes) return callback_url ?? null;
  const resumed = yield* first(db.q.selectFrom("runs").select("callback_url").where("id", "=", resumes));
  return resumed?.callback_url ?? null;
}

function newRow(run: NewRun, admitted: Admitting, created_at: string, callback_url: string | null): RunColumns {
  const { id, input, place, claim } = admitted;
  const begun = { status: "running", attempt: 1, checkpoint_id: place.head, started_at: created_at };
  return {
    ...(claim ? begun : NOT_BEGUN),
    epoch: claim ? place.epoch + 1 : 0,
    id,
    session_id: run.session_id,
    thread: place.thread,
    scope: place.scope,
    resumes: run.resumes ?? null,
    agent_name: run.agent_name ?? place.agent_name,
    agent_revision: run.agent_revision ?? null,
    model: run.model ?? null,
    input,
    trace_id: run.trace_id ?? null,
    callback_url,
    created_at,
    ...{ stalled_attempts: 0, usage: null, error: null, abort_requested_at: null, finished_at: null },
  };
}

const insertNew = fixedQuery<RunColumns>(({ q }, row) =>
  q.insertInto("runs").values({
    id: row.id,
    session_id: row.session_id,
    thread: row.thread,
    scope: row.scope,
    status: row.status,
    attempt: row.attempt,
    epoch: row.epoch,
    resumes: row.resumes,
    agent_name: row.agent_name,
    agent_revision: row.agent_revision,
    model: row.model,
    input: row.input,
    trace_id: row.trace_id,
    callback_url: row.callback_url,
    checkpoint_id: row.checkpoint_id,
    created_at: row.created_at,
    started_at: row.started_at,
  }),
);
