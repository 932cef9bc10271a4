import type { StoredEvent } from "@cognition/contract";
import type { EventFollow, Storage } from "@cognition/thread";
import pg from "pg";

/** Guarantees that can be switched off in a node, to see that the checker misses them. Nothing outside of tests can. */
export const MUTANTS = ["fencing", "journaling", "commit before send"] as const;
export type Mutant = (typeof MUTANTS)[number];

export async function switchOff(storage: Storage, mutant: Mutant | undefined, uri: string): Promise<Storage> {
  if (mutant === "fencing") await forgetFences(uri);
  if (mutant === "journaling") return forgetIntents(storage);
  if (mutant === "commit before send") return sendFirst(storage);
  return storage;
}

type Query = (query: string | { text: string }, ...rest: unknown[]) => unknown;

/**
 * Every condition on an epoch holds, whoever writes, and every one on the head that a writer has seen last. The index
 * that keeps an event from being stored twice goes too: by itself it stops a writer that has lost its run.
 */
async function forgetFences(uri: string): Promise<void> {
  const database = new pg.Client({ connectionString: uri });
  await database.connect();
  await database.query("drop index if exists events_once");
  await database.end();
  const client = pg.Client.prototype as unknown as { query: Query };
  const query = client.query;
  client.query = function (this: unknown, asked, ...rest) {
    const fits = (text: string) =>
      text
        .replace(/(?:\br\.epoch|\bepoch|"epoch") = (\$\d+)/g, "$1::bigint is not null")
        .replace(/ and head = (\$\d+)/g, " and $1::text is not null")
        .replace(/ and head is null/g, "");
    const sent = typeof asked === "object" && asked.text !== undefined ? { ...asked, text: fits(asked.text) } : asked;
    return query.call(this, sent, ...rest);
  };
}

/** A call begins whatever an earlier attempt has recorded of it. */
function forgetIntents(storage: Storage): Storage {
  return {
    ...storage,
    beginToolCall: async (intent) => {
      const state = await storage.beginToolCall(intent);
      if (state.state !== "unknown") return state;
      return { state: "started", attempt: 2, idempotency_key: state.idempotency_key };
    },
  };
}

/** Long enough for a node to die between the two. */
const COMMIT_AFTER_MS = 150;

/** Followers on the node are shown an event under the number it will probably get, and it is stored later. */
async function sendFirst(storage: Storage): Promise<Storage> {
  const saver = await storage.getCheckpointer();
  const followers = new Set<Follower>();
  const append = saver.appendEvents.bind(saver);
  saver.appendEvents = async (thread_id, lease, events) => {
    const { run_id } = lease;
    const early = events.map(({ event, data }) => ({ event, data: { run_id, ...data }, run_id }) as StoredEvent);
    for (const follower of followers) follower.show(run_id, early);
    await new Promise((resolve) => setTimeout(resolve, COMMIT_AFTER_MS));
    return append(thread_id, lease, events);
  };

  async function* follow(asked: EventFollow): AsyncGenerator<StoredEvent[]> {
    const follower = createFollower(storage, asked);
    followers.add(follower);
    try {
      for (let batch = await follower.next(); batch; batch = await follower.next()) if (batch.length > 0) yield batch;
    } finally {
      followers.delete(follower);
      await follower.close();
    }
  }
  return { ...storage, followEventBatches: (asked) => follow(asked) };
}

interface Follower {
  show(run_id: string, events: readonly StoredEvent[]): void;
  /** What is stored or shown next, which may be nothing; undefined at the end. */
  next(): Promise<StoredEvent[] | undefined>;
  close(): Promise<unknown>;
}

function createFollower(storage: Storage, asked: EventFollow): Follower {
  const stored = storage.followEventBatches(asked)[Symbol.asyncIterator]();
  const runs = new Set<string | null>();
  let shown: StoredEvent[] = [];
  let position = asked.after;
  let wake: () => void = () => undefined;
  let coming = stored.next();

  async function wait() {
    const woken = new Promise<undefined>((resolve) => {
      wake = () => resolve(undefined);
    });
    return shown.length > 0 ? undefined : Promise.race([coming, woken]);
  }

  return {
    show: (run_id, events) => {
      if (!runs.has(run_id)) return; // another session's
      shown.push(...events);
      wake();
    },
    next: async () => {
      const step = await wait();
      if (step?.done) return undefined;
      if (step) coming = stored.next();
      const early = (step ? [] : shown.splice(0)).map((event, index) => ({ ...event, id: position + 1 + index }));
      const batch = step ? step.value.filter(({ id }) => id > position) : early;
      for (const { run_id } of batch) runs.add(run_id);
      position = batch.at(-1)?.id ?? position;
      return batch;
    },
    close: async () => {
      shown = [];
      await stored.return?.();
    },
  };
}
