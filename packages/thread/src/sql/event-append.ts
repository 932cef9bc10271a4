import { AppError, isAppError, isTerminalEvent, type StoredEvent } from "@cognition/contract";
import type { EventLog, NewEvent } from "../event-log.ts";
import type { SqlContext } from "./context.ts";
import { prepared } from "./dialect.ts";
import { isUniqueViolation } from "./errors.ts";
import { type EventRow, insertEvents, storedEvents, toStoredEvent } from "./event-rows.ts";
import { jsonText } from "./json-text.ts";
import { advanceLeased, writeLeased } from "./lease-fence.ts";
import { all, type Statement, type Tx } from "./statement.ts";
import { advanceThread, explainRefusal } from "./thread-row.ts";

type Append = Parameters<EventLog["appendEvents"]>[0];

export async function appendEvents(ctx: SqlContext, append: Append): Promise<StoredEvent[]> {
  const { db, feed } = ctx;
  const { session_id, lease } = append;
  append.events.forEach(refuseEnd);
  const write = () => store(ctx, append, ctx.now());
  const events = lease
    ? await writeLeased(db, lease, write)
    : await write().catch((error) => refusal(ctx, append, error));
  feed.publish(session_id, events);
  return events;
}

/** The end of a run is a state as well as an event: only `finishRun` and `requestAbort` write it. */
export function refuseEnd({ event }: NewEvent): void {
  if (!isTerminalEvent(event)) return;
  throw new AppError(
    "validation_failed",
    `A ${event} event is written by finishRun, with the run's end; nothing was stored`,
  );
}

async function store(ctx: SqlContext, append: Append, created_at: string): Promise<StoredEvent[]> {
  const { db } = ctx;
  const batch = batchOf(append, created_at);
  try {
    const [thread] = await db.atomic([fence(ctx, append, batch.events.length), ...insertEvents(db.dialect, batch)]);
    return storedEvents(batch, thread?.rows[0]?.event_seq as number);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return db.transaction(() => storeMissing(ctx, append, created_at));
  }
}

function batchOf({ session_id, lease, events }: Append, created_at: string) {
  return { session_id, run_id: lease?.run_id ?? null, events, created_at };
}

function fence({ db }: SqlContext, { session_id, lease }: Append, events: number): Statement {
  return lease ? advanceLeased(db, lease, { session_id, events }) : advanceThread(db, { session_id }, { events });
}

async function refusal({ db }: SqlContext, { session_id }: Append, error: unknown): Promise<never> {
  throw isAppError(error, "stale_epoch") ? await explainRefusal(db, { session_id }, undefined) : error;
}

/** Some ordinals are in the log already: the answer to an earlier commit was lost. What it stored is kept, the rest added. */
function* storeMissing(ctx: SqlContext, append: Append, created_at: string): Tx<StoredEvent[]> {
  const { db } = ctx;
  yield [fence(ctx, append, 0)];
  const known = yield* findOrdinals(ctx, append);
  const missing = append.events.filter(({ ordinal }) => ordinal === undefined || !known.has(ordinal));
  const batch = batchOf({ ...append, events: missing }, created_at);
  const [thread] = yield* all([fence(ctx, append, missing.length), ...insertEvents(db.dialect, batch)]);
  const added = storedEvents(batch, thread?.rows[0]?.event_seq as number)[Symbol.iterator]();
  return append.events.map((event) => {
    const stored = event.ordinal === undefined ? undefined : known.get(event.ordinal);
    if (!stored) return added.next().value as StoredEvent;
    refuseOther(event, stored);
    return stored;
  });
}

type KnownEvent = Omit<EventRow, "run_id"> & { ordinal: number };

function* findOrdinals({ db }: SqlContext, { session_id, lease, events }: Append): Tx<Map<number, StoredEvent>> {
  const run_id = lease?.run_id ?? null;
  const ordinals = events.flatMap(({ ordinal }) => (ordinal === undefined ? [] : [ordinal]));
  const sql = `select e.seq, e.ordinal, e.event, e.data, e.created_at from events e join runs r on r.pk = e.run
    where r.id = ? and e.ordinal in (${db.dialect.eachNumber})`;
  const [found] = yield* all([prepared(db.dialect, sql, [run_id, JSON.stringify(ordinals)])]);
  return new Map(
    ((found?.rows ?? []) as unknown as KnownEvent[]).map(({ ordinal, ...row }) => [
      ordinal,
      toStoredEvent(session_id, { ...row, run_id }),
    ]),
  );
}

/** A writer that counts from the beginning again would otherwise lose its events in silence. */
function refuseOther({ event, data, ordinal }: NewEvent, stored: StoredEvent): void {
  const same =
    event === stored.event && jsonText({ run_id: stored.run_id, ...data }, event) === jsonText(stored.data, event);
  if (same) return;
  throw new AppError(
    "idempotency_mismatch",
    `Ordinal ${ordinal} of run ${stored.run_id} is event ${stored.id} already, and another one; nothing was stored. ` +
      "A writer goes on from the claim's next_ordinal.",
  );
}
