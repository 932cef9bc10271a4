import type { StoredEvent } from "@cognition/contract";

/** Past this a reader is slower than the writers: it is served from the log, and memory stays bounded. */
const HELD_AT_MOST = 256;

/** One follower's place between the log, where everything is, and the few newest events that wait for it in memory. */
export interface Subscription {
  /** The last event the follower was given. */
  position: number;
  /** The log may hold more than what is held here. */
  unread: boolean;
  readonly ended: boolean;
  offer(events: readonly StoredEvent[]): void;
  poke(): void;
  /** The held events that follow `position` without a gap. */
  take(): StoredEvent[];
  /** Until there is something to take or read, or the end. */
  wait(): Promise<void>;
  end(): void;
}

export function createSubscription(onEnd: () => void): Subscription {
  let held: StoredEvent[] = [];
  let ended = false;
  let wake: (() => void) | undefined;

  function signal(): void {
    wake?.();
    wake = undefined;
  }

  function drop(): void {
    held = [];
    subscription.unread = true;
  }

  const subscription: Subscription = {
    position: 0,
    unread: true,
    get ended() {
      return ended;
    },
    offer: (events) => {
      const last = held.at(-1);
      // Commits of one thread are in order, but the answers of two connections may cross.
      const follows = last === undefined || events[0]?.id === last.id + 1;
      if (follows && held.length + events.length <= HELD_AT_MOST) held.push(...events);
      else drop();
      signal();
    },
    poke: () => {
      subscription.unread = true;
      signal();
    },
    take: () => {
      const fresh = held.filter(({ id }) => id > subscription.position);
      held = [];
      if (fresh.length === 0 || fresh[0]?.id === subscription.position + 1) return fresh;
      drop();
      return [];
    },
    wait: () => {
      if (ended || subscription.unread || held.length > 0) return Promise.resolve();
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    end: () => {
      if (ended) return;
      ended = true;
      held = [];
      onEnd();
      signal();
    },
  };
  return subscription;
}
