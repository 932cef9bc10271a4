import { isAppError, isRunOutcome } from "@cognition/contract";
import { LEASE } from "../../../src/checkpoint/lease.ts";
import { until } from "../../../src/conformance/until.ts";
import type { ClaimedRun, RunEnd } from "../../../src/run-store.ts";
import { conversation, SCENE, userMessage } from "./conversation.ts";
import { createRunLog, type RunLog } from "./run-log.ts";
import { hashOf, type Work } from "./work.ts";

export interface RunInput {
  kind: "graph" | "agent" | "plain" | "paused";
  message_id: string;
  tidy?: boolean;
  answered?: boolean;
}

export const OUTBOX = "http://example.test/hook";

/** Accepts a run with its message, and again with the same key, as a client does whose answer was lost. */
export async function admit(
  { storage, ledger, newId }: Work,
  session_id: string,
  kind: RunInput["kind"],
  tidy = false,
): Promise<string> {
  const message_id = newId();
  const key = newId();
  const body_hash = hashOf(message_id);
  const content = `Hello from ${message_id}`;
  const input: RunInput = { kind, message_id, tidy };
  const request = {
    session_id,
    input,
    message: { id: message_id, role: "user" as const, content },
    events: [{ event: "status" as const, data: { status: "queued" } }],
    idempotency: { key, body_hash },
  };
  const { run } = await storage.createRun(request);
  ledger.write({ t: "run", session_id, run_id: run.id, key, body_hash, message_id });
  ledger.write({ t: "message", session_id, message_id, hash: hashOf(content) });
  const again = await storage.createRun(request);
  if (again.created || again.run.id !== run.id) throw new Error(`key ${key} gave a second run`);
  return run.id;
}

/** Asks again: a thread whose row another write holds at that moment is passed over, not waited for. */
export async function claim({ storage, lease_ms }: Work, session_id: string): Promise<ClaimedRun> {
  const owner = `writer ${process.pid}`;
  return until(`a run of session ${session_id}, which has one`, async () => {
    return (await storage.claimRun({ owner, lease_ms, session_id })) ?? undefined;
  });
}

/** Goes on from wherever the run stands; false if it waits for a human now. */
export async function carryOut(work: Work, claimed: ClaimedRun): Promise<boolean> {
  const input = claimed.input as RunInput;
  const log = createRunLog(work, claimed);
  if (claimed.run.attempt > 1) log.note("status", { status: "resuming", attempt: claimed.run.attempt });
  if (input.kind === "paused" && !input.answered) {
    await suspend(work, claimed, log);
    return false;
  }
  if (input.kind === "graph" || input.kind === "agent") await invoke(work, claimed, log);
  else await writePlainly(work, claimed, log);
  await finish(work, claimed, log, claimed.abort_requested ? "aborted" : "succeeded");
  return true;
}

async function invoke(work: Work, claimed: ClaimedRun, log: RunLog): Promise<void> {
  const { kind, message_id } = claimed.input as RunInput;
  const { run_id, thread_id } = claimed;
  const scene = { work, claimed, log };
  // The agent's half of LangChain is loaded by those writers alone that need it.
  const graph = kind === "agent" ? (await import("./agent.ts")).agent(scene) : conversation(work);
  const state = await graph.getState({ configurable: { thread_id } });
  const begun = (state.metadata as { run_id?: string } | undefined)?.run_id === run_id;
  // Not `next`, which leaves out a task whose writes are stored, though the step it belongs to is not over.
  if (begun && state.tasks.length === 0) return;
  const input = begun ? null : { messages: [userMessage(message_id, `Hello from ${message_id}`)] };
  await graph.invoke(input as never, {
    configurable: { thread_id, [LEASE]: log.lease, [SCENE]: scene },
    metadata: { run_id },
    durability: "sync",
  });
}

/** The same events twice, as after a commit whose answer was lost; a tool that is taken back; a longer lease. */
async function writePlainly({ storage, ledger, lease_ms }: Work, claimed: ClaimedRun, log: RunLog): Promise<void> {
  const { run_id, thread_id, run } = claimed;
  log.token("plain");
  log.token("plain");
  const events = log.take();
  const append = { session_id: run.session_id, lease: claimed, events: events.slice(0, 1) };
  const [first] = await storage.appendEvents(append);
  const ids = (await storage.appendEvents({ ...append, events })).map(({ id }) => id);
  if (ids[0] !== first?.id) throw new Error("the same ordinal was stored twice");
  ledger.write({ t: "events", session_id: run.session_id, run_id, ids });
  const key = { thread_id, checkpoint_ns: "", tool_call_id: `${run_id}:asks` };
  await storage.beginToolCall({ ...key, lease: claimed, name: "ask", args: null, on_crash: "retry" });
  await storage.withdrawToolCall(key, claimed);
  await storage.renewLease(claimed, lease_ms);
}

async function suspend({ storage }: Work, claimed: ClaimedRun, log: RunLog): Promise<void> {
  log.note("interrupt", { interrupts: [{ id: "i", value: null, allowed_decisions: ["approve"] }] });
  await storage.suspendRun(claimed, log.take(), { url: OUTBOX, payload: { ends: false } });
}

async function finish(work: Work, claimed: ClaimedRun, log: RunLog, status: RunEnd["status"]): Promise<void> {
  const { storage, ledger } = work;
  const { run_id, run } = claimed;
  await log.flush();
  log.note("status", { status: "idle" });
  log.note("done", { status, assistant_data: null, message_id: null });
  const delivery = { url: OUTBOX, payload: { ends: true } };
  await storage.finishRun(claimed, { status, events: log.take(), delivery });
  ledger.write({ t: "finished", session_id: run.session_id, run_id, status });
}

/** Brings a run that another process began to its end, as soon as its lease allows. */
export async function recover(work: Work, run_id: string): Promise<void> {
  await until(`the end of run ${run_id}, which a crash interrupted`, async () => {
    const run = await work.storage.getRun(run_id);
    if (isRunOutcome(run.status)) return true;
    if (run.status === "waiting_for_approval") await answer(work, run_id);
    const { storage, lease_ms } = work;
    const claimed = await storage.claimRun({ owner: "recovery", lease_ms, session_id: run.session_id });
    if (claimed) await carryOut(work, claimed);
    return undefined;
  });
}

export async function answer({ storage, newId }: Work, run_id: string): Promise<void> {
  const input: RunInput = { kind: "paused", message_id: newId(), answered: true };
  await storage.resumeRun(run_id, input).catch((error: unknown) => {
    if (!isAppError(error, "already_answered", "run_ended")) throw error;
  });
}
