import { isAppError, type StoredEvent } from "@cognition/contract";
import type { EventFollow } from "../event-log.ts";
import type { SqlContext } from "./context.ts";
import { readEvents } from "./event-read.ts";
import type { Subscription } from "./event-subscription.ts";

const PAGE = 200;

/** Ends when the signal aborts, the storage closes or the session is deleted; each time nothing of it stays behind. */
export function followEventBatches(ctx: SqlContext, follow: EventFollow): AsyncIterable<StoredEvent[]> {
  return { [Symbol.asyncIterator]: () => createFollower(ctx, follow) };
}

/** One by one, from the batches. */
export function followEvents(ctx: SqlContext, follow: EventFollow): AsyncIterable<StoredEvent> {
  return { [Symbol.asyncIterator]: () => oneByOne(createFollower(ctx, follow)) };
}

function oneByOne(batches: Follower): AsyncIterator<StoredEvent, undefined> {
  let batch: StoredEvent[] = [];
  let at = 0;
  return {
    next: async () => {
      // What has ended gives nothing more, not even what it had at hand.
      while (at >= batch.length || batches.ended) {
        const step = await batches.next();
        if (step.done) return step;
        [batch, at] = [step.value, 0];
      }
      return { done: false, value: batch[at++] as StoredEvent };
    },
    return: async () => {
      batch = [];
      await batches.return();
      return { done: true, value: undefined };
    },
  };
}

interface Follower extends AsyncIterator<StoredEvent[], undefined> {
  readonly ended: boolean;
  return(): Promise<IteratorReturnResult<undefined>>;
}

function createFollower(ctx: SqlContext, follow: EventFollow): Follower {
  const { session_id, signal } = follow;
  let subscription: Subscription | undefined;
  let events: AsyncGenerator<StoredEvent[], undefined> | undefined;
  let finished = false;

  function start(): AsyncGenerator<StoredEvent[], undefined> {
    // Subscribe before replaying: an event committed between the two would be lost.
    subscription = ctx.feed.subscribe(session_id, follow);
    signal?.addEventListener("abort", finish, { once: true });
    if (signal?.aborted || finished) finish();
    return readOn(ctx, session_id, subscription);
  }

  function finish(): void {
    finished = true;
    subscription?.end();
    signal?.removeEventListener("abort", finish);
  }

  return {
    get ended() {
      return finished || subscription?.ended === true;
    },
    next: async () => {
      events ??= start();
      try {
        const step = await events.next();
        if (step.done) finish();
        return step;
      } catch (error) {
        finish();
        throw error;
      }
    },
    // A generator's own `return` would wait for the `next` that is under way, and that one for the next event.
    return: async () => {
      finish();
      return { done: true, value: undefined };
    },
  };
}

async function* readOn(
  ctx: SqlContext,
  session_id: string,
  place: Subscription,
): AsyncGenerator<StoredEvent[], undefined> {
  let found = false;
  while (!place.ended) {
    let events: StoredEvent[];
    try {
      events = await nextEvents(ctx, session_id, place);
      found = true;
    } catch (error) {
      if (place.ended || (found && isAppError(error, "session_not_found"))) return;
      throw error;
    }
    const last = events.at(-1);
    if (last && !place.ended) {
      place.position = last.id;
      yield events;
    }
    await place.wait();
  }
}

async function nextEvents(ctx: SqlContext, session_id: string, place: Subscription): Promise<StoredEvent[]> {
  const live = place.take();
  if (live.length > 0 || !place.unread) return live;
  // Before reading: what is committed while the page is on its way makes it unread again.
  place.unread = false;
  const page = await readEvents(ctx, { session_id, after: place.position, limit: PAGE });
  if (page.has_more) place.unread = true;
  return page.events;
}
