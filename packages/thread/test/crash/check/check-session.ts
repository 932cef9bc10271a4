import { isRunOutcome, type Run, type StoredEvent } from "@cognition/contract";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";
import type { Storage } from "../../../src/storage.ts";
import { UNCOUNTED } from "../work/other-steps.ts";
import { hashOfState } from "../work/work.ts";
import { type Book, checkpointName } from "./book.ts";
import { checkLog } from "./check-log.ts";

export interface SessionFacts {
  thread_id: string;
  events: StoredEvent[];
  checkpoints: ReadonlyMap<string, { tuple: CheckpointTuple; hash: string }>;
  openRuns: string[];
}

/** What must be true of a session whatever was acknowledged: nothing of it is half written. Undefined if it is gone. */
export async function checkSession(
  storage: Storage,
  book: Book,
  session_id: string,
): Promise<SessionFacts | undefined> {
  const session = await storage.getSession(session_id);
  if (!session) {
    await checkGone(storage, book, session_id);
    return undefined;
  }
  expect(book.mustBeGone.has(session_id), `session ${session_id} was deleted, and is there again`).toBe(false);
  const { thread_id } = session;
  const runs = await storage.listRuns(session_id, { limit: 200 });
  const events = await checkLog(storage, session_id, runs);
  const checkpoints = await readThread(storage, thread_id);
  checkStepsInLog(book, thread_id, events, checkpoints);
  await checkMessages(storage, book, session_id, thread_id);
  await checkFiles(storage, session_id);
  return { thread_id, events, checkpoints, openRuns: runs.filter(isOpen).map(({ id }) => id) };
}

function isOpen({ status }: Run): boolean {
  return !isRunOutcome(status);
}

async function checkGone(storage: Storage, book: Book, session_id: string): Promise<void> {
  expect(book.mayBeGone.has(session_id), `session ${session_id} is lost`).toBe(true);
  const thread_id = book.all("will_delete").find((entry) => entry.session_id === session_id)?.thread_id ?? "";
  expect((await readThread(storage, thread_id)).size, `checkpoints of deleted session ${session_id}`).toBe(0);
  expect(await storage.listMessagesForSession(session_id), `messages of deleted session ${session_id}`).toEqual([]);
  for (const { run_id } of book.all("run").filter((run) => run.session_id === session_id)) {
    expect(await storage.listToolCalls(run_id), `journal of deleted session ${session_id}`).toEqual([]);
    await expect(storage.getRun(run_id), `run of deleted session ${session_id}`).rejects.toMatchObject({
      code: "run_not_found",
    });
  }
}

/** Reads every checkpoint with all its pieces: a missing one rejects with `corrupt_data`. */
export async function readThread(storage: Storage, thread_id: string): Promise<SessionFacts["checkpoints"]> {
  const saver = await storage.getCheckpointer();
  const found = new Map<string, { tuple: CheckpointTuple; hash: string }>();
  for await (const tuple of saver.list({ configurable: { thread_id } })) {
    const ns = String(tuple.config.configurable?.["checkpoint_ns"] ?? "");
    const hash = hashOfState(tuple.checkpoint);
    found.set(checkpointName(thread_id, ns, tuple.checkpoint.id), { tuple, hash });
  }
  return found;
}

/** What a checkpoint of a run holds is in the log, and what the log says was stored is stored. */
function checkStepsInLog(
  book: Book,
  thread_id: string,
  events: readonly StoredEvent[],
  checkpoints: SessionFacts["checkpoints"],
): void {
  const logged = events.filter(({ event }) => event === "checkpoint").map(({ data }) => (data as Step).checkpoint_id);
  expect(new Set(logged).size, `thread ${thread_id} has a step in its log twice`).toBe(logged.length);
  const pruned = book.all("will_prune").some((entry) => entry.thread_id === thread_id);
  for (const id of logged) {
    const stored = checkpoints.has(checkpointName(thread_id, "", id));
    expect(stored || pruned, `the log tells of checkpoint ${id}, and thread ${thread_id} has none`).toBe(true);
  }
  // A fork begins with a checkpoint that a run of its parent made, and that is in the parent's log.
  const runs = new Set(events.map(({ run_id }) => run_id));
  for (const { tuple } of checkpoints.values()) {
    const { run_id } = tuple.metadata as { run_id?: string };
    if (run_id === undefined || !runs.has(run_id) || tuple.config.configurable?.["checkpoint_ns"]) continue;
    const { id } = tuple.checkpoint;
    expect(logged, `checkpoint ${id} of run ${run_id} is stored, and not in the log`).toContain(id);
  }
}

type Step = { checkpoint_id: string };

/** The rows are what the checkpoints say; only what an unfinished step has said so far may still be missing. */
async function checkMessages(storage: Storage, book: Book, session_id: string, thread_id: string): Promise<void> {
  const { total } = await storage.getMessagesBySession(session_id);
  const session = await storage.getSession(session_id);
  if (session?.metadata["by"] !== UNCOUNTED) {
    expect(session?.message_count, `message_count of session ${session_id}`).toBe(total);
  }
  const report = await storage.rebuildMessages(session_id);
  if (!book.cleared.has(session_id)) {
    const { added, repaired, removed } = report;
    const expected = { repaired: 0, removed: 0, added: added === 0 ? 0 : await pendingMessages(storage, thread_id) };
    expect({ added, repaired, removed }, `what a rebuild of session ${session_id} had to change`).toEqual(expected);
  }
  const again = await storage.rebuildMessages(session_id);
  expect(again, `second rebuild of session ${session_id}`).toMatchObject({ added: 0, repaired: 0, removed: 0 });
}

async function pendingMessages(storage: Storage, thread_id: string): Promise<number> {
  const saver = await storage.getCheckpointer();
  const head = await saver.getTuple({ configurable: { thread_id } });
  const pending = (head?.pendingWrites ?? []).filter(([, channel]) => channel === "messages");
  return pending.flatMap(([, , value]) => value).length;
}

/** Versions are counted without gap, and each one's content is there. */
async function checkFiles(storage: Storage, session_id: string): Promise<void> {
  const { artifacts } = await storage.artifacts.listArtifacts({ session_id });
  for (const { id, version } of artifacts) {
    const versions = (await storage.artifacts.listVersions(id, { session_id })).map((one) => one.version);
    const expected = Array.from({ length: version }, (_, index) => version - index);
    expect(versions, `versions of artifact ${id}`).toEqual(expected);
    for (const one of versions) await storage.artifacts.readContent(id, { session_id }, one);
  }
}
