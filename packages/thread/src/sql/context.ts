import { randomUUID } from "node:crypto";
import type { Database } from "./database.ts";
import { createEventFeed, type EventFeed, type EventFeedOptions } from "./event-feed.ts";

/** What every store of one open storage shares. Clock and ids come in through the door, so tests can fix them. */
export interface SqlContext {
  db: Database;
  now: () => string;
  newId: () => string;
  /** Where committed events are told to those who follow them. */
  feed: EventFeed;
}

export function systemContext(db: Database, events: EventFeedOptions = {}): SqlContext {
  return { db, now: () => new Date().toISOString(), newId: uuidv7, feed: createEventFeed(db, events) };
}

let lastMs = 0;
let counter = 0;

/** Time-ordered, also within one millisecond of this process; the rest is random. */
export function uuidv7(): string {
  // Node draws the randomness of many at once; eight bytes at a time cost as much as an insert.
  const random = randomUUID();
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    counter = Number.parseInt(random.slice(0, 3), 16) & 0x7ff;
  } else if (++counter > 0xfff) {
    lastMs += 1;
    counter = 0;
  }
  const hex = lastMs.toString(16).padStart(12, "0");
  const sub = counter.toString(16).padStart(3, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${sub}-${random.slice(19)}`;
}
