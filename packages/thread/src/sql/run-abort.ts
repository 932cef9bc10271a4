import { isRunOutcome, type Run, type StoredEvent } from "@cognition/contract";
import type { NewEvent } from "../event-log.ts";
import type { AbortedRuns, DeliveryOfAborted } from "../run-store.ts";
import { CALL_EVENTS, type ToldCall, toldCalls } from "../told-calls.ts";
import type { SqlContext } from "./context.ts";
import { insertDelivery } from "./delivery-store.ts";
import { insertEvents, storedEvents } from "./event-rows.ts";
import { storedJson } from "./json-text.ts";
import { runNotFound } from "./lease-fence.ts";
import { IS_OPEN, type RunRow, toRun } from "./run-row.ts";
import { setSessionStatus } from "./session-status.ts";
import { all, changes, rows, statement, type Tx } from "./statement.ts";
import { advanceThread } from "./thread-row.ts";
import { indexedId } from "./tool-call-name.ts";
import { insertUsage } from "./usage-store.ts";
import { writeThread } from "./write-thread.ts";

export async function requestAbort(
  ctx: SqlContext,
  session_id: string,
  run_id: string | undefined,
  deliveryOf?: DeliveryOfAborted,
): Promise<AbortedRuns> {
  const { events, ...aborted } = await writeThread(ctx.db, { session_id }, () =>
    abortRuns(ctx, session_id, run_id, deliveryOf),
  );
  ctx.feed.publish(session_id, events);
  if (aborted.marked.length > 0) ctx.db.wakeUps.send(session_id);
  return aborted;
}

/** The caller holds the thread's row. */
export function* abortRuns(
  ctx: SqlContext,
  session_id: string,
  run_id?: string,
  deliveryOf: DeliveryOfAborted = () => undefined,
): Tx<AbortedRuns & { events: StoredEvent[] }> {
  const { db } = ctx;
  const runs = yield* findRuns(ctx, session_id, run_id);
  const owned = runs.filter(hasWorker).map(({ id }) => id);
  const unowned = runs.filter((run) => !hasWorker(run));
  if (owned.length > 0) {
    const mark = db.q.updateTable("runs").set({ abort_requested_at: ctx.now() }).where("id", "in", owned);
    yield* changes(mark.where("abort_requested_at", "is", null));
  }
  const events: StoredEvent[] = [];
  for (const run of unowned) events.push(...(yield* endRun(ctx, run, deliveryOf)));
  if (unowned.some(({ status }) => status === "waiting_for_approval")) {
    yield* all([setSessionStatus(ctx, session_id, "active")]);
  }
  return { ended: unowned.map(({ id }) => id), marked: owned, events };
}

/**
 * Has one, or will: a run that was handed back in its middle has tool calls to close and results to tell, which only a
 * worker can.
 */
function hasWorker({ status, attempt }: RunRow): boolean {
  return status === "running" || (status === "queued" && attempt > 0);
}

function* findRuns({ db }: SqlContext, session_id: string, run_id: string | undefined): Tx<RunRow[]> {
  const query = db.q.selectFrom("runs").selectAll().where("session_id", "=", session_id).orderBy("pk");
  if (run_id === undefined) return yield* rows(query.where(IS_OPEN));
  const found = yield* rows(query.where("id", "=", run_id));
  if (found.length === 0) throw runNotFound(run_id);
  return found.filter(({ status }) => !isRunOutcome(status as Run["status"]));
}

/** No worker has it, so nobody else would write its end. */
function* endRun(ctx: SqlContext, row: RunRow, deliveryOf: DeliveryOfAborted): Tx<StoredEvent[]> {
  const { db } = ctx;
  const { id: run_id, session_id, scope } = row;
  const finished_at = ctx.now();
  const events = [...(yield* leftCalls(ctx, row, finished_at)), ...ABORTED];
  const batch = { session_id, run_id, events, created_at: finished_at };
  const end = db.q.updateTable("runs").set({ status: "aborted", finished_at }).where("id", "=", run_id).returningAll();
  const [thread, ended] = yield* all([
    advanceThread(db, { session_id }, { events: events.length }),
    statement(end),
    ...insertEvents(db.dialect, batch),
  ]);
  const run = toRun(ended?.rows[0] as unknown as RunRow);
  const delivery = deliveryOf(run, storedJson(row.input, `The input of run ${run_id}`), row.callback_url);
  yield* all([
    ...insertUsage(ctx, row, run.usage, finished_at),
    ...(delivery ? [insertDelivery(ctx, delivery, { session_id, run_id, scope })] : []),
  ]);
  return storedEvents(batch, thread?.rows[0]?.event_seq as number);
}

/**
 * The results of calls that it was in when it asked: a delegation whose agent asked, or a tool that asked by itself. Of one that
 * is in the journal a human was asked what became of it, and nobody will say so any more.
 */
function* leftCalls({ db }: SqlContext, { pk, id, thread, status }: RunRow, finished_at: string): Tx<NewEvent[]> {
  if (status !== "waiting_for_approval") return [];
  const ofRun = db.q.selectFrom("events").select(["seq", "event", "data"]).where("run", "=", pk);
  const told = yield* rows(ofRun.where("thread", "=", thread).where("event", "in", CALL_EVENTS).orderBy("seq"));
  const close = db.q.updateTable("tool_calls").set({ status: "unknown", finished_at }).where("run_id", "=", id);
  const begun = yield* rows(close.where("status", "=", "started").returning(["tool_call_id", "checkpoint_ns"]));
  const calls = toldCalls(
    told.map(
      ({ seq, event, data }) =>
        ({ id: seq, event, data: storedJson(data, `Event ${seq} of run ${id}`) }) as StoredEvent,
    ),
  );
  const left = calls.filter(({ ended }) => !ended);
  return left.flatMap((call) => {
    const isUnknown = begun.some((one) => isCall(one, call));
    return [...(call.taken_back ? [toldAgain(call)] : []), leftCall(call, isUnknown)];
  });
}

/** For those who have dropped what an attempt took back: no result without its call. */
function toldAgain({ id, name, args, agent }: ToldCall): NewEvent {
  return { event: "tool_call", data: { ...(agent !== undefined && { agent }), id, name, args } };
}

function isCall(record: { tool_call_id: string; checkpoint_ns: string }, { id, agent }: ToldCall): boolean {
  return record.tool_call_id === indexedId(id) && record.checkpoint_ns.includes("|") === (agent !== undefined);
}

function leftCall({ id, name, agent }: ToldCall, isUnknown: boolean): NewEvent {
  const about = { ...(agent !== undefined && { agent }), tool_call_id: id, exit_code: null };
  const [outcome, output] = isUnknown
    ? ["unknown", `outcome_unknown: the run was aborted before anybody had said what became of ${name}.`]
    : ["aborted", `${name}: The run was aborted while a human was asked. What was done for it until then stays done.`];
  return { event: "tool_result", data: { ...about, output, outcome } };
}

const ABORTED: readonly NewEvent[] = [
  { event: "status", data: { status: "idle" } },
  { event: "done", data: { status: "aborted", assistant_data: null, message_id: null } },
];
