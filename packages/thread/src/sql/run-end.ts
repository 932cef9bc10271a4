import { AppError, isTerminalEvent, type Run } from "@cognition/contract";
import { sql, type UpdateObject } from "kysely";
import type { WriterLease } from "../checkpoint/lease.ts";
import type { NewDelivery } from "../delivery-store.ts";
import type { NewEvent } from "../event-log.ts";
import type { Lease, RunEnd } from "../run-store.ts";
import { COUNT_DIFFERS, ROWS_DIFFER, repairProjection, requireProjected, selectProjected } from "./check-projection.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { insertDelivery } from "./delivery-store.ts";
import { insertEvents, storedEvents } from "./event-rows.ts";
import { fixedQuery } from "./fixed-query.ts";
import { jsonText } from "./json-text.ts";
import { advanceLeased, leaseRefused, writeLeased } from "./lease-fence.ts";
import { rebuildMessages } from "./message-projection.ts";
import { IS_OPEN, type RunRow, toRun } from "./run-row.ts";
import { all, type Statement, statement, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";
import { insertUsage } from "./usage-store.ts";

/** Where the run stands when it is left: where one that resumes it goes on. */
export const HEAD = sql<string | null>`(select t.head from threads t where t.pk = runs.thread)`;

export async function finishRun(
  ctx: SqlContext,
  lease: Lease,
  end: RunEnd,
): Promise<{ run: Run; others_wait: boolean }> {
  requireOneEnd(end);
  const change = endRunning(ctx.db, {
    run_id: lease.run_id,
    epoch: lease.epoch,
    status: end.status,
    finished_at: ctx.now(),
    usage: end.usage ? jsonText(end.usage, "usage") : null,
    error: end.error ? jsonText(end.error, "error") : null,
  });
  const session_status = end.status === "failed" ? "error" : "active";
  return leaveRun(ctx, lease, {
    change,
    session_status,
    events: end.events,
    delivery: end.delivery,
    usage: end.usage,
  });
}

type RunChange = UpdateObject<Tables, "runs">;
type SessionStatus = "active" | "error" | "waiting_for_approval";

export interface Leaving {
  /** Of the run's own row: from running under the lease, or not at all (`changeRunning`). */
  change: Statement;
  session_status?: SessionStatus;
  events: readonly NewEvent[];
  delivery?: NewDelivery | undefined;
  /** Of a run that ends: what it has used in all. */
  usage?: Run["usage"] | undefined;
  /** The messages are made anew from all that is stored, rather than looked up. */
  rebuild?: boolean | undefined;
}

/**
 * The run stops running: its new state, its events, the outbox row, the session's status and the lease's end at once. The
 * message rows that it leaves are those of its checkpoints; if somebody has changed them meanwhile, they are rebuilt first.
 */
export async function leaveRun(ctx: SqlContext, lease: WriterLease, leaving: Leaving): Promise<Left> {
  const batch = { run_id: lease.run_id, events: leaving.events, created_at: ctx.now() };
  const attempt = (projected: Checked["projected"]) =>
    writeLeased(ctx.db, lease, () => ctx.db.transaction(() => leave(ctx, lease, { ...leaving, projected }, batch)));
  const { event_seq, ...left } = await attempt(leaving.rebuild ? undefined : lease.projected).catch(async (error) => {
    if (error !== ROWS_DIFFER && error !== COUNT_DIFFERS) throw error;
    await repairProjection(ctx, lease, error);
    return attempt(undefined);
  });
  const { session_id } = left.run;
  ctx.feed.publish(session_id, storedEvents({ ...batch, session_id }, event_seq));
  return left;
}

interface Left {
  run: Run;
  /** Others of the session are queued. */
  others_wait: boolean;
}

type Batch = { run_id: string; events: readonly NewEvent[]; created_at: string };
type Checked = Leaving & { projected: WriterLease["projected"] | undefined };

function* leave(ctx: SqlContext, lease: Lease, leaving: Checked, batch: Batch): Tx<Left & { event_seq: number }> {
  const { db } = ctx;
  const { projected } = leaving;
  const [thread, left] = yield* all([
    advanceLeased(db, lease, { events: batch.events.length, ends: true }),
    { ...leaving.change, requireRow: leaseRefused },
  ]);
  const row = left?.rows[0] as unknown as RunRow;
  const thread_id = thread?.rows[0]?.thread_id as string;
  const event_seq = thread?.rows[0]?.event_seq as number;
  const { session_id, scope } = row;
  const [queued, found] = yield* all([
    selectQueued(db, { session_id }),
    ...(projected ? [selectProjected(db, projected)] : []),
    ...insertEvents(db.dialect, { ...batch, thread_id }),
    ...(leaving.delivery ? [insertDelivery(ctx, leaving.delivery, { session_id, run_id: row.id, scope })] : []),
    ...insertUsage(ctx, row, leaving.usage ?? null, batch.created_at),
    ...(leaving.session_status ? [setSessionStatus(ctx, session_id, leaving.session_status)] : []),
  ]);
  if (projected) requireProjected(projected, found);
  if (leaving.rebuild) yield* rebuildMessages(ctx, session_id);
  return { run: toRun(row), event_seq, others_wait: queued?.rows.length === 1 };
}

const selectQueued = fixedQuery<{ session_id: string }>(({ q }, { session_id }) =>
  q
    .selectFrom("runs")
    .select("id")
    .where("session_id", "=", session_id)
    .where(IS_OPEN)
    .where("status", "=", "queued")
    .limit(1),
);

/** Compare-and-set: from running under this very lease, or not at all. */
function running({ q }: Pick<Database, "q">, { run_id, epoch }: Lease, columns: RunChange) {
  return q
    .updateTable("runs")
    .set(columns)
    .where("id", "=", run_id)
    .where("epoch", "=", epoch)
    .where("status", "=", "running")
    .returningAll();
}

export function changeRunning({ db }: SqlContext, lease: Lease, columns: RunChange): Statement {
  return statement(running(db, lease, columns));
}

/** The same, of a run that nobody wants aborted. */
export function changeUnlessAborted({ db }: SqlContext, lease: Lease, columns: RunChange): Statement {
  return statement(running(db, lease, columns).where("abort_requested_at", "is", null));
}

interface RunEndRow extends Lease {
  status: RunEnd["status"];
  finished_at: string;
  usage: string | null;
  error: string | null;
}

const endRunning = fixedQuery<RunEndRow>((db, row) => {
  const { status, finished_at, usage, error } = row;
  return running(db, row, { status, finished_at, checkpoint_id: HEAD, usage, error });
});

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

function requireOneEnd({ events, status }: RunEnd): void {
  const ends = events.filter(({ event }) => isTerminalEvent(event));
  const last = events.at(-1);
  if (ends.length === 1 && ends[0] === last && last?.data.status === status) return;
  throw new AppError(
    "validation_failed",
    `A run's end needs exactly one done event, last of all and with status ${status}; nothing was stored`,
  );
}
