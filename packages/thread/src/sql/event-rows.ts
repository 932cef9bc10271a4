import type { StoredEvent } from "@cognition/contract";
import type { NewEvent } from "../event-log.ts";
import type { Dialect } from "./dialect.ts";
import { jsonText, storedJson } from "./json-text.ts";
import { inPortions, textByRows, valuesTable } from "./row-portions.ts";
import type { Statement } from "./statement.ts";

const eventsText = (which: string) =>
  textByRows(
    (dialect, rows) => `insert into events (thread, seq, run, ordinal, event, data, created_at)
      select t.pk, t.event_seq - v.column1, r.pk, v.column2, v.column3, v.column4, cast(? as text)
      from threads t left join runs r on r.id = ?,
        ${valuesTable(dialect, rows, ["bigint", "bigint", "text", "text"])} v
      where t.thread_id = ${which}`,
  );
const OF_THREAD = eventsText("?");
const OF_SESSION = eventsText("(select s.thread_id from sessions s where s.id = ?)");

interface Batch {
  run_id: string | null;
  events: readonly NewEvent[];
  created_at: string;
}

export type EventRows = Batch & ({ thread_id: string } | { session_id: string });

/**
 * Many events in one statement, with the same numbers that `eventIds` gives. They come from the thread's row, which
 * `advanceThread` has raised by all of them in this transaction: so the rows can be sent along without waiting for it.
 */
export function insertEvents(dialect: Dialect, rows: EventRows): Statement[] {
  const { run_id, created_at } = rows;
  const [text, name] = "thread_id" in rows ? [OF_THREAD, rows.thread_id] : [OF_SESSION, rows.session_id];
  const of = rows.events.length;
  const numbered = rows.events.map((event, index) => ({ event, before: of - index - 1 }));
  return Array.from(inPortions(numbered), (portion) => {
    const params = portion.flatMap(({ event, before }) => [before, ...columnsOf(event, run_id)]);
    return { sql: text(dialect, portion.length), params: [created_at, run_id, ...params, name], prepare: true };
  });
}

function columnsOf(event: NewEvent, run_id: string | null): [ordinal: number | null, event: string, data: string] {
  const data = jsonText(withRunId(event.data, run_id), `the data of a ${event.event} event`);
  return [event.ordinal ?? null, event.event, data];
}

/** The numbers that `insertEvents` gave, once the thread's row said how far it is now. */
export function eventIds(event_seq: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => event_seq - count + index + 1);
}

/** What `insertEvents` stored, as a reader will see it. `event_seq` is what the thread's row says afterwards. */
export function storedEvents(batch: Batch & { session_id: string }, event_seq: number): StoredEvent[] {
  const { session_id, run_id, events, created_at } = batch;
  const ids = eventIds(event_seq, events.length);
  return events.map(({ event, data }, index) => {
    const id = ids[index] as number;
    return { id, session_id, run_id, event, data: withRunId(data, run_id), created_at } as StoredEvent;
  });
}

export interface EventRow {
  seq: number;
  run_id: string | null;
  event: string;
  data: string;
  created_at: string;
}

/** An event as a reader sees it. */
export function toStoredEvent(session_id: string, { seq: id, run_id, event, data, created_at }: EventRow): StoredEvent {
  const stored = storedJson(data, `Event ${id} of session ${session_id}`);
  return { id, session_id, run_id, event, data: stored, created_at } as StoredEvent;
}

function withRunId(data: NewEvent["data"], run_id: string | null): NewEvent["data"] {
  return { run_id, ...data };
}
