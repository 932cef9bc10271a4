import type { Entry, EntryOf } from "../ledger.ts";

/** The ledger, by what a check asks for. */
export interface Book {
  /** In the order in which they were written. */
  ofSession(session_id: string): readonly Entry[];
  ofThread(thread_id: string): readonly Entry[];
  ofRun(run_id: string): readonly Entry[];
  /** Sessions that may be gone (a deletion had begun), and those that must be. */
  mayBeGone: ReadonlySet<string>;
  mustBeGone: ReadonlySet<string>;
  /** Threads that may be gone with or without a session. */
  threadsLeaving: ReadonlySet<string>;
  /** Conversations whose rows were taken away, and not yet made anew. */
  cleared: ReadonlySet<string>;
  /** Checkpoints that a prune may have taken, as `thread ns id`. */
  prunable: ReadonlySet<string>;
  all<T extends Entry["t"]>(t: T): EntryOf<T>[];
}

export function openBook(entries: readonly Entry[]): Book {
  const byKind = Map.groupBy(entries, ({ t }) => t);
  const all = <T extends Entry["t"]>(t: T) => (byKind.get(t) ?? []) as EntryOf<T>[];
  const cleared = new Set<string>();
  for (const entry of entries) {
    if (entry.t === "will_clear") cleared.add(entry.session_id);
    if (entry.t === "rebuilt") cleared.delete(entry.session_id);
  }
  const by = (key: string) => {
    const groups = Map.groupBy(entries, (entry) => Reflect.get(entry, key) as string | undefined);
    return (id: string) => groups.get(id) ?? [];
  };
  return {
    ofSession: by("session_id"),
    ofThread: by("thread_id"),
    ofRun: by("run_id"),
    all,
    cleared,
    prunable: prunable(entries),
    mayBeGone: new Set(all("will_delete").map(({ session_id }) => session_id)),
    mustBeGone: new Set(all("deleted").map(({ session_id }) => session_id)),
    threadsLeaving: new Set([...all("will_delete"), ...all("will_delete_thread")].map(({ thread_id }) => thread_id)),
  };
}

export function checkpointName(thread_id: string, ns: string, checkpoint_id: string): string {
  return `${thread_id} ${ns} ${checkpoint_id}`;
}

/** What was stored before a prune began may go with it, but never the thread's newest. */
function prunable(entries: readonly Entry[]): Set<string> {
  const stored = new Map<string, EntryOf<"checkpoint">[]>();
  const names = new Set<string>();
  for (const entry of entries) {
    if (entry.t === "checkpoint") {
      const known = stored.get(entry.thread_id);
      if (known) known.push(entry);
      else stored.set(entry.thread_id, [entry]);
    }
    if (entry.t === "will_prune") {
      const before = stored.get(entry.thread_id) ?? [];
      const newest = before.findLast(({ ns }) => ns === "");
      for (const one of before) {
        if (one !== newest) names.add(checkpointName(one.thread_id, one.ns, one.checkpoint_id));
      }
    }
  }
  return names;
}
