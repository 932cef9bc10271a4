import { expect } from "vitest";
import type { Storage } from "../../../src/storage.ts";
import type { Entry, EntryOf } from "../ledger.ts";
import { hashOf } from "../work/work.ts";
import { type Book, checkpointName } from "./book.ts";
import { readThread, type SessionFacts } from "./check-session.ts";

interface Place {
  storage: Storage;
  facts: SessionFacts;
}

type Check<T extends Entry["t"]> = (place: Place, entry: EntryOf<T>) => Promise<void> | void;

/** What the ledger says of one session is there. */
const ofSession: { [T in Entry["t"]]?: Check<T> } = {
  title: async ({ storage }, { session_id, n }) => {
    const session = await storage.getSession(session_id);
    expect(Number(session?.title), `title of session ${session_id}`).toBe(n);
    expect(session?.metadata, `metadata of session ${session_id}`).toEqual({ n: `${n}` });
  },
  message: async ({ storage }, { session_id, message_id, hash }) => {
    const message = await storage.getMessage(message_id, { session_id });
    expect(message && hashOf(message.content), `message ${message_id} of session ${session_id}`).toBe(hash);
  },
  run: async ({ storage }, { session_id, run_id, key, body_hash }) => {
    const again = await storage.createRun({ session_id, idempotency: { key, body_hash } });
    expect(again, `what the key of run ${run_id} gives`).toMatchObject({ created: false, run: { id: run_id } });
  },
  events: ({ facts }, { session_id, ids }) => {
    const there = new Set(facts.events.map(({ id }) => id));
    const isFolded = (id: number) =>
      facts.events.some(({ id: last, data }) => "folded_from" in data && Number(data.folded_from) <= id && id < last);
    const missing = ids.filter((id) => !there.has(id) && !isFolded(id));
    expect(missing, `events of session ${session_id} that were acknowledged`).toEqual([]);
  },
  finished: async ({ storage }, { run_id, status }) => {
    expect(await storage.getRun(run_id), `run ${run_id}, which has ended`).toMatchObject({ status });
  },
  artifact: async ({ storage }, { session_id, id, version, hash }) => {
    const { content } = await storage.artifacts.readContent(id, { session_id }, version);
    expect(hashOf(content), `version ${version} of artifact ${id}`).toBe(hash);
  },
};

export async function checkAcknowledged(place: Place, entries: readonly Entry[]): Promise<void> {
  for (const entry of entries) await (ofSession[entry.t] as Check<Entry["t"]> | undefined)?.(place, entry as never);
}

/** Checkpoints with the state that was put, and the writes of tasks. */
export function checkThread(book: Book, entries: readonly Entry[], checkpoints: SessionFacts["checkpoints"]): void {
  for (const entry of entries) {
    if (entry.t !== "checkpoint" && entry.t !== "writes") continue;
    const name = checkpointName(entry.thread_id, entry.ns, entry.checkpoint_id);
    const found = checkpoints.get(name);
    if (!found && book.prunable.has(name)) continue;
    if (entry.t === "checkpoint") expect(found?.hash, `state at checkpoint ${name}`).toBe(entry.hash);
    // LangGraph gives no order between a task's writes and the checkpoint they belong to.
    else if (found) {
      const written = (found.tuple.pendingWrites ?? []).filter(([task_id]) => task_id === entry.task_id);
      const channels = new Set(written.map(([, channel]) => channel));
      expect(
        entry.channels.filter((channel) => !channels.has(channel)),
        `writes of task ${entry.task_id} at checkpoint ${name}`,
      ).toEqual([]);
    }
  }
}

/** The journal: an intent that was acknowledged is there, a result too, and no tool acted twice that must not. */
export async function checkJournal(storage: Storage, run_id: string, entries: readonly Entry[]): Promise<void> {
  const calls = await storage.listToolCalls(run_id);
  for (const entry of entries) {
    if (entry.t !== "begun" && entry.t !== "tool_end") continue;
    const call = calls.find((one) => one.tool_call_id === entry.tool_call_id && one.checkpoint_ns === entry.ns);
    expect(call, `tool call ${entry.tool_call_id} of run ${run_id}`).toBeDefined();
    if (entry.t === "tool_end")
      expect(call, `result of tool call ${entry.tool_call_id}`).toMatchObject({ status: "ok", result: entry.result });
  }
}

export function checkEffects(book: Book): void {
  const effects = Map.groupBy(book.all("effect"), ({ idempotency_key }) => idempotency_key);
  for (const [key, [first, ...more]] of effects) {
    if (first?.on_crash === "never") expect(more.length, `tool call ${key} acted again after a crash`).toBe(0);
  }
}

export async function checkCopies(storage: Storage, copies: readonly EntryOf<"copied">[]): Promise<void> {
  for (const { thread_id, hash } of copies) {
    const [newest] = [...(await readThread(storage, thread_id)).values()];
    expect(newest?.hash, `state of copy ${thread_id}`).toBe(hash);
  }
}

/** Items that are written together are the same; the last one that was acknowledged, or one that came after it. */
export async function checkMemory(storage: Storage, entries: readonly Entry[]): Promise<void> {
  const store = await storage.getStore();
  const puts = entries.filter((entry) => entry.t === "will_put" || entry.t === "put");
  for (const [pair, ofPair] of Map.groupBy(puts, (entry) => entry.pair)) {
    const [a, b] = [await store.get(["pairs", pair], "a"), await store.get(["pairs", pair], "b")];
    expect(a?.value, `one batch of pair ${pair}`).toEqual(b?.value);
    const acknowledged = ofPair.findLast(({ t }) => t === "put")?.n;
    const intended = ofPair.at(-1)?.n;
    expect([acknowledged, intended], `value of pair ${pair}`).toContain(a?.value["n"]);
  }
}

export async function checkKeys(storage: Storage, entries: readonly Entry[], { mayBeGone }: Book): Promise<void> {
  for (const entry of entries) {
    if (entry.t === "key") {
      const { key, body_hash, response } = entry;
      expect(await storage.claimIdempotencyKey({ key, body_hash }), `key ${key}`).toEqual({ state: "done", response });
    }
    if (entry.t === "attempts" && !mayBeGone.has(entry.session_id)) {
      const { attempts } = await storage.getDelivery(entry.delivery_id);
      expect(attempts.length, `attempts of delivery ${entry.delivery_id}`).toBeGreaterThanOrEqual(entry.count);
    }
  }
}

/** What changes together has changed together: as often as was acknowledged, or once more. */
export async function checkStates(storage: Storage, entries: readonly Entry[]): Promise<void> {
  const completing = new Set(entries.flatMap((entry) => (entry.t === "will_complete" ? entry.task_id : [])));
  for (const entry of entries) {
    if (entry.t === "task" && !completing.has(entry.task_id)) {
      const { profile, workspace, messages } = await storage.tasks.loadTask(entry);
      const n = messages.length;
      expect(n, `messages of task ${entry.task_id}`).toBeGreaterThanOrEqual(entry.n);
      expect([profile.data.goals, workspace.assessment], `state of task ${entry.task_id}`).toEqual([[`${n}`], `${n}`]);
    }
    if (entry.t === "will_complete") await checkCompleted(storage, entry);
    if (entry.t === "chat") {
      const store = await storage.getChatStore();
      const log = await store.getMessages(entry.user_id, "c");
      expect(log.length, `log of ${entry.user_id}'s chat`).toBeGreaterThanOrEqual(entry.n);
      expect(await store.load(entry.user_id, "c"), "its count").toMatchObject({ message_count: log.length });
    }
  }
}

/** A workspace is there with two changes, or gone with all three. */
async function checkCompleted(storage: Storage, { task_id, user_id, conversation_id }: EntryOf<"will_complete">) {
  const open = (await storage.tasks.listTasks({ user_id })).some((task) => task.task_id === task_id);
  const messages = await storage.listMessagesForSession(conversation_id);
  const profile = await storage.profiles.getProfile(user_id);
  const n = open ? 2 : 3;
  expect([messages.length, profile?.data.goals], `task ${task_id}, open: ${open}`).toEqual([n, [`${n}`]]);
}
