import type { StoredEvent } from "@cognition/contract";
import type { NewEvent } from "../storage.ts";
import { type Dialect, placeholders } from "./dialect.ts";
import { jsonText } from "./json-text.ts";
import type { Statement } from "./statement.ts";

/**
 * Numbers come from the thread's row, which `advanceThread` has raised by `of` in this transaction: so the rows can be
 * sent along without waiting for it.
 */
const INSERT = `insert into events (thread, seq, run, ordinal, event, data, created_at)
  select t.pk, t.event_seq - ? + ?, r.pk, ?, ?, ?, ?
  from threads t left join runs r on r.id = ?`;
const OF_THREAD = `${INSERT} where t.thread_id = ?`;
const OF_SESSION = `${INSERT} where t.thread_id = (select s.thread_id from sessions s where s.id = ?)`;

interface Batch {
  run_id: string | null;
  events: readonly NewEvent[];
  created_at: string;
}

export type EventRows = Batch & ({ thread_id: string } | { session_id: string });

/** One insert per event, in order; the same numbers in the same order that `eventIds` gives. */
export function insertEvents(dialect: Dialect, rows: EventRows): Statement[] {
  const { run_id, events, created_at } = rows;
  const [sql, name] = "thread_id" in rows ? [OF_THREAD, rows.thread_id] : [OF_SESSION, rows.session_id];
  return events.map((event, index) => ({
    sql: placeholders(dialect, sql),
    params: [
      events.length,
      index + 1,
      event.ordinal ?? null,
      event.event,
      jsonText(withRunId(event.data, run_id), `the data of a ${event.event} event`),
      created_at,
      run_id,
      name,
    ],
    prepare: true,
  }));
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

function withRunId(data: NewEvent["data"], run_id: string | null): NewEvent["data"] {
  return { run_id, ...data };
}
