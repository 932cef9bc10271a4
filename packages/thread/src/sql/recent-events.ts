import type { StoredEvent } from "@cognition/contract";

export interface RecentEvents {
  /** What this process has just committed. */
  add(session_id: string, events: readonly StoredEvent[]): void;
  /** Everything after `after` up to at least `head`; undefined where some of it may only be in the log. */
  find(session_id: string, after: number, head: number): StoredEvent[] | undefined;
}

/** Over all sessions; past it those that have been quiet the longest are forgotten. */
const KEPT_AT_MOST = 50_000;

/** The last few events of each session, so that a client that comes back at once costs the database nothing. */
export function createRecentEvents(size: number, keptAtMost = KEPT_AT_MOST): RecentEvents {
  const bySession = new Map<string, StoredEvent[]>();
  let kept = 0;

  function forget(session_id: string): void {
    kept -= bySession.get(session_id)?.length ?? 0;
    bySession.delete(session_id);
  }

  return {
    add: (session_id, events) => {
      const known = bySession.get(session_id) ?? [];
      const last = known.at(-1);
      // The answers of two connections may cross, or another process wrote in between: what has a gap is of no use.
      const follows = last === undefined || events[0]?.id === last.id + 1;
      forget(session_id);
      const newest = [...(follows ? known : []), ...events].slice(-size);
      if (size === 0) return;
      bySession.set(session_id, newest); // at the end: the first of the map is the one that was quiet the longest
      kept += newest.length;
      for (const oldest of bySession.keys()) {
        if (kept <= keptAtMost) break;
        forget(oldest);
      }
    },
    find: (session_id, after, head) => {
      const known = bySession.get(session_id);
      const [first, last] = [known?.[0], known?.at(-1)];
      if (!known || !first || !last || first.id > after + 1 || last.id < Math.max(head, after)) return undefined;
      return known.slice(after + 1 - first.id);
    },
  };
}
