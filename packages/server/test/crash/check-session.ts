import { isRunOutcome, type Run, StoredEvent } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { expect } from "vitest";
import { checkTools } from "./check-tools.ts";
import type { EntryOf } from "./ledger.ts";

const PAGE = 500;

export interface SessionFacts {
  runs: Run[];
  events: StoredEvent[];
}

/** What must be true of a session at any moment, whoever died, and what more when nothing of it is open. */
export async function checkSession(
  storage: Storage,
  session_id: string,
  accepted: readonly EntryOf<"accepted">[],
  effects: readonly EntryOf<"effect">[],
): Promise<SessionFacts> {
  const runs = await storage.listRuns(session_id, { limit: PAGE });
  const events = await readLog(storage, session_id);
  for (const run of runs) checkEnd(run, events);
  await checkAccepted(storage, session_id, runs, accepted);
  await checkSteps(storage, session_id, events);
  for (const run of runs) await checkTools(storage, run, events, effects);
  if (runs.every(({ status }) => isRunOutcome(status))) await checkMessages(storage, session_id);
  return { runs, events };
}

/** 1, 2, 3 …, each of them of the form that the wire promises. */
async function readLog(storage: Storage, session_id: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const page = await storage.readEvents({ session_id, after: events.length, limit: PAGE });
    events.push(...page.events.map((event) => StoredEvent.parse(event)));
    if (!page.has_more) break;
  }
  expect(
    events.map(({ id }) => id),
    `event ids of ${session_id}`,
  ).toEqual(events.map((_, index) => index + 1));
  return events;
}

function checkEnd({ id, status }: Run, events: readonly StoredEvent[]): void {
  const own = events.filter(({ run_id }) => run_id === id);
  const ends = own.filter(({ event }) => event === "done");
  expect(
    ends.map(({ data }) => (data as { status: string }).status),
    `ends of run ${id}, which is ${status}`,
  ).toEqual(isRunOutcome(status) ? [status] : []);
  if (ends.length > 0) expect(own.at(-1)?.event, `the last event of run ${id}`).toBe("done");
}

async function checkAccepted(
  storage: Storage,
  session_id: string,
  runs: readonly Run[],
  accepted: readonly EntryOf<"accepted">[],
): Promise<void> {
  const known = new Set(runs.map(({ id }) => id));
  for (const { run_id, message_id, content } of accepted.filter((entry) => entry.session_id === session_id)) {
    expect(known.has(run_id), `run ${run_id} was accepted, and is lost`).toBe(true);
    const message = await storage.getMessage(message_id, { session_id });
    expect(message?.content, `message ${message_id}, which was accepted`).toBe(content);
  }
}

/** What a checkpoint of a run holds is in the log, and what the log says was stored is stored. */
async function checkSteps(storage: Storage, session_id: string, events: readonly StoredEvent[]): Promise<void> {
  const session = await storage.getSession(session_id);
  const saver = await storage.getCheckpointer();
  const stored: string[] = [];
  for await (const { checkpoint, config } of saver.list({ configurable: { thread_id: session?.thread_id } })) {
    // Where a fork begins is a step of the thread that it comes from.
    const inherited = checkpoint.id === session?.parent?.checkpoint_id;
    if (!config.configurable?.["checkpoint_ns"] && !inherited) stored.push(checkpoint.id);
  }
  const logged = events.flatMap(({ event, data }) => (event === "checkpoint" ? data.checkpoint_id : []));
  expect(logged.toSorted(), `steps in the log of ${session_id}`).toEqual(stored.toSorted());
}

async function checkMessages(storage: Storage, session_id: string): Promise<void> {
  const messages = await storage.listMessagesForSession(session_id);
  const answered = new Set(messages.map(({ tool_call_id }) => tool_call_id));
  const dangling = messages.flatMap(({ tool_calls }) => tool_calls ?? []).filter(({ id }) => !answered.has(id));
  expect(dangling, `tool calls of ${session_id} that nobody closed`).toEqual([]);
  const { repaired, added, removed } = await storage.rebuildMessages(session_id);
  expect({ repaired, added, removed }, `what a rebuild of ${session_id} changed`).toEqual({
    repaired: 0,
    added: 0,
    removed: 0,
  });
}
