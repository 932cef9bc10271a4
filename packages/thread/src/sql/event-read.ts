import { AppError, DEFAULT_EVENT_PAGE_LIMIT, MAX_EVENT_PAGE_LIMIT, type StoredEvent } from "@cognition/contract";
import { sql } from "kysely";
import type { EventLog, EventQuery } from "../storage.ts";
import type { SqlContext } from "./context.ts";
import { scopeTextOf } from "./scope.ts";

type EventPage = Awaited<ReturnType<EventLog["readEvents"]>>;

export async function readEvents({ db }: SqlContext, query: EventQuery): Promise<EventPage> {
  const { session_id, after = 0, types, run_id } = query;
  const limit = Math.min(query.limit ?? DEFAULT_EVENT_PAGE_LIMIT, MAX_EVENT_PAGE_LIMIT);
  if (!Number.isSafeInteger(limit) || limit < 1 || !Number.isSafeInteger(after) || after < 0) {
    throw new AppError(
      "validation_failed",
      `limit must be a whole number from 1, after one from 0; not ${limit}, ${after}`,
    );
  }
  const own = scopeTextOf(query.scope);
  let thread = db.q
    .selectFrom("sessions")
    .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
    .select("threads.pk")
    .where("sessions.id", "=", session_id)
    .where("threads.deleted_at", "is", null);
  if (own !== undefined) thread = thread.where("sessions.scope", "=", own);
  let events = db.q
    .selectFrom("events")
    .leftJoin("runs", "runs.pk", "events.run")
    .select(["events.seq", "events.event", "events.data", "events.folded", "events.created_at", "runs.id as run_id"])
    .where("events.thread", "=", thread)
    .where("events.seq", ">", after);
  if (types) events = events.where("events.event", "in", types);
  if (run_id !== undefined) {
    events = events.where("events.run", "=", db.q.selectFrom("runs").select("runs.pk").where("runs.id", "=", run_id));
  }
  const rows = types?.length === 0 ? [] : await db.read(events.orderBy("events.seq").limit(limit + 1), own);
  if (rows.length === 0 && (await db.read(thread, own)).length === 0) {
    throw new AppError("session_not_found", `There is no session ${session_id}`);
  }
  const page = rows.slice(0, limit);
  return {
    events: page.map(
      ({ seq, run_id, event, data, created_at }) =>
        ({ id: seq, session_id, run_id, event, data: JSON.parse(data), created_at }) as StoredEvent,
    ),
    has_more: rows.length > limit,
    folded: page.reduce((sum, row) => sum + row.folded, 0),
  };
}

export async function lastEventId({ db }: SqlContext, session_id: string): Promise<number> {
  const [thread] = await db.read(
    db.q
      .selectFrom("sessions")
      .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
      .select("threads.event_seq")
      .where("sessions.id", "=", session_id)
      .where("threads.deleted_at", "is", null),
  );
  if (!thread) throw new AppError("session_not_found", `There is no session ${session_id}`);
  return thread.event_seq;
}

export async function countEvents(
  { db }: SqlContext,
  { session_id, after = 0, types, run_id }: Omit<EventQuery, "limit">,
): Promise<{ events: number; folded: number; head: number }> {
  let missed = db.q
    .selectFrom("events")
    .where("events.thread", "=", sql<number>`threads.pk`)
    .where("events.seq", ">", after);
  if (types) missed = missed.where("events.event", "in", types.length > 0 ? types : [""]);
  if (run_id !== undefined) {
    missed = missed.where("events.run", "=", db.q.selectFrom("runs").select("runs.pk").where("runs.id", "=", run_id));
  }
  const [found] = await db.read(
    db.q
      .selectFrom("sessions")
      .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
      .select("threads.event_seq as head")
      .select(missed.select((eb) => eb.fn.countAll<number>().as("n")).as("events"))
      .select(
        missed.select((eb) => eb.fn.coalesce(eb.fn.sum<number>("events.folded"), sql<number>`0`).as("n")).as("folded"),
      )
      .where("sessions.id", "=", session_id)
      .where("threads.deleted_at", "is", null),
  );
  if (!found) throw new AppError("session_not_found", `There is no session ${session_id}`);
  return { events: Number(found.events), folded: Number(found.folded), head: found.head };
}
