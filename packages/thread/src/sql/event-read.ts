import { AppError, DEFAULT_EVENT_PAGE_LIMIT, MAX_EVENT_PAGE_LIMIT } from "@cognition/contract";
import { type RawBuilder, sql } from "kysely";
import type { EventLog, EventQuery } from "../event-log.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { type EventRow, toStoredEvent } from "./event-rows.ts";
import { fixedQuery } from "./fixed-query.ts";
import { requireTexts, requireWhole } from "./input-checks.ts";
import { requireKnown } from "./known-names.ts";
import { atMost } from "./limit.ts";
import { scopeTextOf } from "./scope.ts";
import { type Statement, statement } from "./statement.ts";

type EventPage = Awaited<ReturnType<EventLog["readEvents"]>>;

type FoundEvent = EventRow & { folded: number };

interface Place {
  session_id: string;
  after: number;
  run_id: string;
  own: string;
  limit: number;
}

interface Shape {
  ofRun: boolean;
  ofScope: boolean;
}

function threadOf({ q }: Pick<Database, "q">, { session_id, own }: Place, ofScope: boolean) {
  const thread = q
    .selectFrom("sessions")
    .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
    .select("threads.pk")
    .where("sessions.id", "=", session_id)
    .where("threads.deleted_at", "is", null);
  return ofScope ? thread.where("sessions.scope", "=", own) : thread;
}

function eventsOf(db: Pick<Database, "q">, place: Place, { ofRun, ofScope }: Shape) {
  return db.q
    .selectFrom("events")
    .leftJoin("runs", "runs.pk", "events.run")
    .select(["events.seq", "events.event", "events.data", "events.folded", "events.created_at", "runs.id as run_id"])
    .where("events.thread", "=", threadOf(db, place, ofScope))
    .where(ofRun ? eventsOfRun(place.run_id, place.after) : sql<boolean>`events.seq > ${place.after}`)
    .orderBy("events.seq")
    .limit(atMost(place.limit));
}

/**
 * From the run's first event to its end, so that the log before and after is not looked at. The first one takes a look at
 * all of the run's: who goes on from a page has no need of it.
 */
function eventsOfRun(run_id: string, after: number): RawBuilder<boolean> {
  const run = sql`(select r.pk from runs r where r.id = ${run_id})`;
  const first = sql`(select min(e.seq) from events e where e.run = ${run})`;
  const end = sql`(select e.seq from events e where e.run = ${run} and e.event = 'done')`;
  return sql<boolean>`events.run = ${run} and ${after === 0 ? sql`events.seq >= ${first}` : sql`events.seq > ${after}`}
    and events.seq <= coalesce(${end}, ${sql.lit(Number.MAX_SAFE_INTEGER)})`;
}

/** What every stream and every follower begins with, compiled once. */
const selectAll = fixedQuery<Place>((db, place) => eventsOf(db, place, { ofRun: false, ofScope: false }));
const selectOwn = fixedQuery<Place>((db, place) => eventsOf(db, place, { ofRun: false, ofScope: true }));

function selectEvents(db: Database, place: Place, shape: Shape, types: EventQuery["types"]): Statement {
  if (!types && !shape.ofRun) return (shape.ofScope ? selectOwn : selectAll)(db, place);
  const events = eventsOf(db, place, shape);
  return statement(types ? events.where("events.event", "in", types) : events);
}

const EVENT_NAMES: readonly string[] = ["session_id", "scope", "after", "types", "run_id"];

export async function readEvents({ db }: SqlContext, query: EventQuery): Promise<EventPage> {
  requireKnown("Events", query, [...EVENT_NAMES, "limit"]);
  const { session_id, after = 0, types, run_id } = query;
  if (types !== undefined) requireTexts("types", types);
  const limit = Math.min(query.limit ?? DEFAULT_EVENT_PAGE_LIMIT, MAX_EVENT_PAGE_LIMIT);
  if (!Number.isSafeInteger(limit) || limit < 1 || !Number.isSafeInteger(after) || after < 0) {
    throw new AppError(
      "validation_failed",
      `limit must be a whole number from 1, after one from 0; not ${limit}, ${after}`,
    );
  }
  const own = scopeTextOf(query.scope);
  const place = { session_id, after, run_id: run_id ?? "", own: own ?? "", limit: limit + 1 };
  const shape = { ofRun: run_id !== undefined, ofScope: own !== undefined };
  const [found] = types?.length === 0 ? [] : await db.readAll([selectEvents(db, place, shape, types)], own);
  const rows = (found?.rows ?? []) as unknown as FoundEvent[];
  if (rows.length === 0 && (await db.read(threadOf(db, place, shape.ofScope), own)).length === 0) {
    throw new AppError("session_not_found", `There is no session ${session_id}`);
  }
  const page = rows.slice(0, limit);
  return {
    events: page.map((row) => toStoredEvent(session_id, row)),
    has_more: rows.length > limit,
    folded: page.reduce((sum, row) => sum + row.folded, 0),
  };
}

const selectLast = fixedQuery<{ session_id: string }>(({ q }, { session_id }) =>
  q
    .selectFrom("sessions")
    .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
    .select("threads.event_seq")
    .where("sessions.id", "=", session_id)
    .where("threads.deleted_at", "is", null),
);

export async function lastEventId({ db }: SqlContext, session_id: string): Promise<number> {
  const [found] = await db.readAll([selectLast(db, { session_id })]);
  const thread = found?.rows[0];
  if (!thread) throw new AppError("session_not_found", `There is no session ${session_id}`);
  return thread.event_seq as number;
}

export async function countEvents(
  { db }: SqlContext,
  query: Omit<EventQuery, "limit">,
): Promise<{ events: number; folded: number; head: number }> {
  requireKnown("Events", query, EVENT_NAMES);
  const { session_id, after = 0, types, run_id } = query;
  if (types !== undefined) requireTexts("types", types);
  requireWhole("after", after);
  const own = scopeTextOf(query.scope);
  let missed = db.q
    .selectFrom("events")
    .where("events.thread", "=", sql<number>`threads.pk`)
    .where(run_id === undefined ? sql<boolean>`events.seq > ${after}` : eventsOfRun(run_id, after));
  if (types) missed = missed.where("events.event", "in", types.length > 0 ? types : [""]);
  const counted = db.q
    .selectFrom("sessions")
    .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
    .select("threads.event_seq as head")
    .select(missed.select((eb) => eb.fn.countAll<number>().as("n")).as("events"))
    .select(
      missed.select((eb) => eb.fn.coalesce(eb.fn.sum<number>("events.folded"), sql<number>`0`).as("n")).as("folded"),
    )
    .where("sessions.id", "=", session_id)
    .where("threads.deleted_at", "is", null);
  const [found] = await db.read(own === undefined ? counted : counted.where("sessions.scope", "=", own), own);
  if (!found) throw new AppError("session_not_found", `There is no session ${session_id}`);
  return { events: Number(found.events), folded: Number(found.folded), head: found.head };
}
