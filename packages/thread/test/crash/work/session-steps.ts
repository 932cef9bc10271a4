import { isAppError } from "@cognition/contract";
import { conversation, userMessage } from "./conversation.ts";
import { admit, answer, carryOut, claim, OUTBOX, type RunInput } from "./run-work.ts";
import { hashOfState, type Work } from "./work.ts";

interface Place {
  session_id: string;
  thread_id: string;
}

export async function openSession({ storage, ledger }: Work): Promise<Place> {
  const { id: session_id, thread_id } = await storage.createSession({ metadata: { by: "writer" } });
  ledger.write({ t: "session", session_id, thread_id });
  return { session_id, thread_id };
}

export async function converse(work: Work, place: Place, kind: RunInput["kind"], tidy = false): Promise<void> {
  await admit(work, place.session_id, kind, tidy);
  await carryOut(work, await claim(work, place.session_id));
}

/** One session that all writers talk in, one after the other: its history grows over every crash. */
export async function longTalk(work: Work): Promise<void> {
  work.session ??= await openSession(work);
  await converse(work, work.session, "graph");
}

export async function tidiedTalk(work: Work): Promise<void> {
  const place = await openSession(work);
  await converse(work, place, "graph");
  await converse(work, place, "graph", true);
}

export async function agentTalk(work: Work): Promise<void> {
  await converse(work, await openSession(work), "agent");
}

/** What waits in line, is put back, waits for a human, is aborted in line and at work. */
export async function pausedRuns(work: Work): Promise<void> {
  const { storage, ledger } = work;
  const { session_id } = await openSession(work);
  const paused = await admit(work, session_id, "paused");
  await carryOut(work, await claim(work, session_id));
  await answer(work, paused);
  await storage.releaseRun(await claim(work, session_id));
  await carryOut(work, await claim(work, session_id));
  const running = await admit(work, session_id, "plain");
  const claimed = await claim(work, session_id);
  const queued = await admit(work, session_id, "plain");
  const { ended } = await storage.requestAbort(session_id, undefined, () => ({ url: OUTBOX, payload: { ends: true } }));
  if (ended[0] !== queued) throw new Error(`run ${queued} stood in line and was not ended`);
  ledger.write({ t: "finished", session_id, run_id: queued, status: "aborted" });
  await carryOut(work, { ...claimed, abort_requested: true });
  if (claimed.run_id !== running) throw new Error("a later run went first");
}

/** A branch off an earlier checkpoint: the conversation follows it, what came after stays readable. */
export async function branch(work: Work): Promise<void> {
  const { saver, next } = work;
  const place = await openSession(work);
  await converse(work, place, "graph");
  const graph = conversation(work);
  const { thread_id, session_id } = place;
  const ids: string[] = [];
  for await (const { checkpoint } of saver.list({ configurable: { thread_id, checkpoint_ns: "" } })) {
    ids.push(checkpoint.id);
  }
  const earlier = ids.at(-3) as string;
  const config = { configurable: { thread_id, checkpoint_id: earlier } };
  await graph.updateState(config, { messages: [userMessage(`${session_id}:${next()}`, "Otherwise")] }, "think");
  await converse(work, place, "graph");
}

/** Back, forward again, off to a session of its own and there to before it began, and on from an earlier checkpoint within a run. */
export async function travel(work: Work): Promise<void> {
  const { storage, ledger } = work;
  const place = await openSession(work);
  const { session_id } = place;
  await converse(work, place, "graph");
  await converse(work, place, "graph");
  const points = await storage.timeline.readTimeline(session_id);
  const [head, earlier] = [points[0]?.checkpoint_id ?? null, points.at(-2)?.checkpoint_id ?? null];
  const going = { session_id, conversation: true, artifacts: true, memory: true };
  const back = await storage.timeline.rewindSession({ ...going, checkpoint_id: earlier, expected_head: head });
  await storage.timeline.rewindSession({ ...going, checkpoint_id: back.previous_head, expected_head: back.head });
  const fork = await storage.timeline.forkSession({ session_id, checkpoint_id: earlier as string, files: false });
  ledger.write({ t: "session", session_id: fork.id, thread_id: fork.thread_id });
  await converse(work, { session_id: fork.id, thread_id: fork.thread_id }, "graph");
  const [end] = await storage.timeline.readTimeline(fork.id, { limit: 1 });
  const [before, expected_head] = [points.at(-1)?.checkpoint_id ?? null, end?.checkpoint_id ?? null];
  await storage.timeline.rewindSession({ ...going, session_id: fork.id, checkpoint_id: before, expected_head });
  await admit(work, session_id, "graph");
  const claimed = await claim(work, session_id);
  await storage.timeline.branchThread(claimed, earlier as string);
  await carryOut(work, claimed);
}

/** Copies share what is stored; pruning and deleting one of them leaves the others whole. */
export async function copies(work: Work): Promise<void> {
  const { saver, ledger, newId } = work;
  const place = await openSession(work);
  await converse(work, place, "graph");
  const head = await saver.getTuple({ configurable: { thread_id: place.thread_id } });
  const hash = hashOfState(head?.checkpoint);
  const [whole, from, gone] = [newId(), newId(), newId()];
  await saver.copyThread(place.thread_id, whole);
  await saver.copyThread(place.thread_id, from, { checkpoint_id: head?.checkpoint.id as string });
  for (const thread_id of [whole, from]) ledger.write({ t: "copied", thread_id, hash });
  await saver.copyThread(place.thread_id, gone);
  const graph = conversation(work);
  const more = { messages: [userMessage(newId(), "In a copy")] };
  await graph.updateState({ configurable: { thread_id: gone } }, more, "answer");
  ledger.write({ t: "will_prune", thread_id: place.thread_id });
  await saver.prune({ thread_id: place.thread_id, keep_last: 2 });
  ledger.write({ t: "will_delete_thread", thread_id: gone });
  await saver.deleteThread(gone);
}

export async function deletion(work: Work): Promise<void> {
  const { storage, saver, ledger, newId } = work;
  const place = await openSession(work);
  const { session_id, thread_id } = place;
  await converse(work, place, "graph");
  await storage.artifacts.createArtifact({ session_id, name: "scratch", artifact_type: "scratch", content: "gone" });
  const head = await saver.getTuple({ configurable: { thread_id } });
  const copy = newId();
  await saver.copyThread(thread_id, copy);
  ledger.write({ t: "copied", thread_id: copy, hash: hashOfState(head?.checkpoint) });
  ledger.write({ t: "will_delete", session_id, thread_id });
  await storage.deleteSession(session_id);
  ledger.write({ t: "deleted", session_id, thread_id });
  const late = conversation(work).updateState({ configurable: { thread_id } }, { notes: ["late"] }, "answer");
  const refused = await late.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refused === undefined) throw new Error(`deleted thread ${thread_id} took a write`);
  if (!isAppError(refused, "thread_deleted")) throw refused;
}

export async function clearing(work: Work): Promise<void> {
  const { storage, ledger } = work;
  const place = await openSession(work);
  const { session_id } = place;
  await converse(work, place, "graph");
  ledger.write({ t: "will_clear", session_id });
  await storage.deleteMessagesForSession(session_id);
  await storage.rebuildMessages(session_id);
  ledger.write({ t: "rebuilt", session_id });
}

/** Threads with no session: a time to live, and the sweep at its end. */
export async function expiry(work: Work): Promise<void> {
  const { saver, ledger, newId } = work;
  const thread_id = newId();
  const graph = conversation(work);
  await graph.updateState({ configurable: { thread_id } }, { messages: [userMessage(newId(), "Soon gone")] }, "answer");
  ledger.write({ t: "will_delete_thread", thread_id });
  await saver.setThreadTtl(thread_id, 0);
  await saver.sweepExpired();
}
