import type { StoredEvent } from "@cognition/contract";
import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import { createSubscription, type Subscription } from "./event-subscription.ts";
import { createRecentEvents } from "./recent-events.ts";
import type { News } from "./wake-ups.ts";

export interface EventFeed {
  /** Hands events to the followers in this process and wakes those in others. Only after their commit. */
  publish(session_id: string, events: readonly StoredEvent[]): void;
  /** At a place. With `head`, the log's end as the follower has just read it, what is in memory need not be read again. */
  subscribe(session_id: string, place: { after: number; head?: number | undefined }): Subscription;
  /** How many follow right now. */
  readonly followers: number;
  /** Ends every follower. */
  close(): void;
}

export interface EventFeedOptions {
  /** How soon a follower finds what no wake-up told it of. One query for all followers of the process. */
  pollMs?: number;
  /** How many recent events of each session are kept in memory. */
  recent?: number;
}

const POLL_MS = 1_000;
const RECENT = 100;

export function createEventFeed(
  db: Database,
  { pollMs = POLL_MS, recent: size = RECENT }: EventFeedOptions = {},
): EventFeed {
  const recent = createRecentEvents(size);
  const bySession = new Map<string, Set<Subscription>>();
  const watch = createWatch(pollMs, () => lookForNews(db, bySession));
  let stopListening: (() => void) | undefined;
  let followers = 0;
  let closed = false;

  function onNews(news: News): void {
    if (news === "any") watch.look();
    else for (const session_id of news) for (const one of bySession.get(session_id) ?? []) one.poke();
  }

  function add(session_id: string, subscription: Subscription): void {
    const ofSession = bySession.get(session_id) ?? new Set();
    bySession.set(session_id, ofSession.add(subscription));
    if (++followers > 1) return;
    stopListening = db.wakeUps.listen(onNews);
    watch.start();
  }

  function remove(session_id: string, subscription: Subscription): void {
    const ofSession = bySession.get(session_id);
    if (!ofSession?.delete(subscription)) return;
    if (ofSession.size === 0) bySession.delete(session_id);
    if (--followers > 0) return;
    stopListening?.();
    watch.stop();
  }

  return {
    publish: (session_id, events) => {
      if (events.length === 0) return;
      recent.add(session_id, events);
      for (const one of bySession.get(session_id) ?? []) one.offer(events);
      db.wakeUps.send(session_id);
    },
    subscribe: (session_id, { after, head }) => {
      const subscription = createSubscription(() => remove(session_id, subscription));
      subscription.position = after;
      const known = head === undefined ? undefined : recent.find(session_id, after, head);
      if (known) {
        subscription.unread = false;
        if (known.length > 0) subscription.offer(known);
      }
      if (closed) subscription.end();
      else add(session_id, subscription);
      return subscription;
    },
    get followers() {
      return followers;
    },
    close: () => {
      closed = true;
      for (const ofSession of [...bySession.values()]) for (const one of [...ofSession]) one.end();
    },
  };
}

/** Looks every so often and when asked to, never twice at a time. */
function createWatch(everyMs: number, lookOnce: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let again = false;

  async function look(): Promise<void> {
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    do {
      again = false;
      // The database is away: followers that read are told so, those that wait are served once it is back.
      await lookOnce().catch(() => undefined);
    } while (again);
    looking = false;
  }

  return {
    look: () => void look(),
    start: () => {
      timer = setInterval(() => void look(), everyMs);
    },
    stop: () => clearInterval(timer),
  };
}

/** Wakes who is behind the log's end, and ends who follows a session that is gone. */
async function lookForNews(db: Database, bySession: ReadonlyMap<string, ReadonlySet<Subscription>>): Promise<void> {
  const followed = [...bySession].map(([session_id, ofSession]) => ({ session_id, subscriptions: [...ofSession] }));
  if (followed.length === 0) return;
  const sql = `select s.id, t.event_seq from sessions s join threads t on t.thread_id = s.thread_id
    where t.deleted_at is null and s.id in (${db.dialect.eachText})`;
  const session_ids = JSON.stringify(followed.map(({ session_id }) => session_id));
  const [found] = await db.readAll([{ sql: placeholders(db.dialect, sql), params: [session_ids], prepare: true }]);
  const ends = new Map(found?.rows.map((row) => [row.id, row.event_seq as number]));
  for (const { session_id, subscriptions } of followed) {
    const end = ends.get(session_id);
    for (const one of subscriptions) {
      if (end === undefined) one.end();
      else if (end > one.position) one.poke();
    }
  }
}
