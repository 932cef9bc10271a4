import type { WriterLease } from "../../../src/checkpoint/lease.ts";
import type { NewEvent } from "../../../src/event-log.ts";
import type { ClaimedRun } from "../../../src/run-store.ts";
import type { Work } from "./work.ts";

/** The events of one run, numbered in the order in which they happened, and sent in that order. */
export interface RunLog {
  token(message_id: string): void;
  note(event: NewEvent["event"], data: Record<string, unknown>): void;
  /** Commits what has gathered, without waiting for a checkpoint; by way of the thread's writer, or past it. */
  flush(way?: "with checkpoints"): Promise<void>;
  /** What has gathered, to be committed with something else. */
  take(): NewEvent[];
  readonly lease: WriterLease;
}

export function createRunLog({ storage, saver, ledger }: Work, claimed: ClaimedRun): RunLog {
  const { run_id, epoch } = claimed;
  const { session_id } = claimed.run;
  let next = claimed.next_ordinal;
  let gathered: NewEvent[] = [];

  /** The ordinal stands in the data too: so a reader of the log can tell that none is missing, also after a fold. */
  function note(event: NewEvent["event"], data: Record<string, unknown>): void {
    const ordinal = next++;
    gathered.push({ event, data: { ...data, n: ordinal }, ordinal });
  }

  function take(): NewEvent[] {
    const taken = gathered;
    gathered = [];
    return taken;
  }

  const lease: WriterLease = {
    run_id,
    epoch,
    takeEvents: (checkpoint) => {
      note("checkpoint", { ...checkpoint });
      return take();
    },
    committed: (ids) => ledger.write({ t: "events", session_id, run_id, ids }),
  };

  return {
    note,
    take,
    lease,
    token: (message_id) => {
      const ordinal = next++;
      gathered.push({ event: "token", data: { content: ` ${ordinal}`, message_id }, ordinal });
    },
    flush: async (way) => {
      const events = take();
      if (events.length === 0) return;
      if (way === "with checkpoints") return saver.appendEvents(claimed.thread_id, lease, events);
      const stored = await storage.appendEvents({ session_id, lease: claimed, events });
      ledger.write({ t: "events", session_id, run_id, ids: stored.map(({ id }) => id) });
    },
  };
}
