import type { Scope, StoredEvent } from "@cognition/contract";
import type { Lease } from "./run-store.ts";

export interface NewEvent {
  event: StoredEvent["event"];
  data: Record<string, unknown>;
  /** The writer's own count within the run: the same ordinal again is the same event, stored once. */
  ordinal?: number;
}

export interface EventLog {
  /**
   * Stores the events at the session's next numbers: 1, 2, 3 … without gap or reuse. With a lease, an old epoch is
   * refused with `stale_epoch`. What arrives together, of whatever threads, shares a commit.
   */
  appendEvents(append: { session_id: string; lease?: Lease; events: NewEvent[] }): Promise<StoredEvent[]>;
  /** In order. `folded` is how many events the page lacks because others stand for them (their data has `folded_from`). */
  readEvents(query: EventQuery): Promise<{ events: StoredEvent[]; has_more: boolean; folded: number }>;
  /** The highest number given out, 0 for none. */
  lastEventId(session_id: string): Promise<number>;
  /** Everything after the id, in order, each once, then live until the signal aborts; from any process. */
  followEvents(follow: EventFollow): AsyncIterable<StoredEvent>;
  /** The same, with what is there at once handed over at once: never an empty batch. */
  followEventBatches(follow: EventFollow): AsyncIterable<readonly StoredEvent[]>;
  /** How many events a reader that has seen `after` has missed, how many of them are folded away, and the log's end. */
  countEvents(query: Omit<EventQuery, "limit">): Promise<{ events: number; folded: number; head: number }>;
  /**
   * Folds the token events of runs that ended before then into one per message, which keeps the last one's id. The signal
   * ends it before the next run.
   */
  compactEvents(before: Date, options?: { signal?: AbortSignal }): Promise<{ runs: number; folded: number }>;
}

export interface EventFollow {
  session_id: string;
  after: number;
  /** The log's end as the caller has just read it: saves reading what this process still has in memory. */
  head?: number;
  signal?: AbortSignal;
}

export interface EventQuery {
  session_id: string;
  /** Another scope's session is not found. */
  scope?: Scope;
  after?: number;
  limit?: number;
  types?: readonly StoredEvent["event"][];
  run_id?: string;
}
