import { type ErrorCode, isAppError, type ToolOutcome } from "@cognition/contract";
import type { ToolCallKey, ToolCallState, ToolJournal } from "@cognition/thread";
import { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { type Command, isGraphBubbleUp } from "@langchain/langgraph";
import { ToolInvocationError } from "langchain";
import type { ApprovalRule } from "../agent/agent-definition.ts";
import { messageOf } from "../file/error-text.ts";
import { AWAY } from "../run/not-the-runs.ts";
import { retryStorage } from "../run/retry-storage.ts";
import { limitText } from "../tool/limit-text.ts";
import type { OnCrash } from "../tool/tool.ts";
import { beginCall } from "./begin-call.ts";
import { decideCall } from "./decide-call.ts";
import { MAX_OUTPUT_BYTES } from "./finished-tool.ts";
import { about, type Caller, tellResult } from "./journal-events.ts";
import { packResult, unpackResult } from "./journal-result.ts";
import { type CallScope, callName, inCall, type RunScope } from "./run-scope.ts";
import { reasonOf } from "./settle-thread.ts";

export type ToolResult = ToolMessage | Command;

export interface JournaledCall {
  caller: Caller;
  call: ToolCall;
  checkpoint_ns: string;
  on_crash: OnCrash;
  /** Whether it may change files. */
  writes: boolean;
  /** What a tool throws is told to the model, unless its own graph has to deal with it. */
  rethrow?: boolean;
  run(): Promise<ToolResult>;
}

type ToolCallEnd = Parameters<ToolJournal["finishToolCall"]>[2];
type Keyed = JournaledCall & { key: ToolCallKey };

/** Records the intent, runs the tool, records the result, tells the log; or uses what an earlier attempt has recorded. */
export async function journaledCall(scope: RunScope, journaled: JournaledCall): Promise<ToolResult> {
  const { work } = scope;
  const { call, checkpoint_ns, on_crash } = journaled;
  const key: ToolCallKey = { thread_id: work.claimed.thread_id, checkpoint_ns, tool_call_id: call.id ?? "" };
  const intent = { ...key, lease: work.lease, name: call.name, args: call.args, on_crash };
  // The call is in a durable checkpoint before it begins, or the model would make it anew after a crash, under a name that no
  // intent is found by: `beginToolCall` stores what is on its way first. What the log still holds joins that.
  work.log.release();
  const state = await beginCall(scope, intent);
  const keyed = { ...journaled, key };
  if (state.state === "finished") return useResult(scope, keyed, state);
  // What an earlier attempt has started and this machine still knows is not unknown: the tool goes on with it.
  if (state.state === "unknown" && !(await scope.sandbox.knows(state.idempotency_key)))
    return faceUnknown(scope, keyed, state.on_crash);
  const callScope: CallScope = {
    tool_call_id: key.tool_call_id,
    idempotency_key: state.idempotency_key,
    agent_name: journaled.caller.agent_name,
    about: about(journaled.caller),
    exit_code: null,
    opaque: journaled.rethrow ?? false,
  };
  const name = callName(key);
  const performing = perform(scope, keyed, callScope);
  scope.begun.set(name, callScope);
  scope.calls.set(name, untilOver(performing, callScope));
  void scope.calls.get(name)?.then(() => scope.calls.delete(name));
  const result = await performing;
  await scope.sandbox.forget(state.idempotency_key); // its result is in the journal now
  return result;
}

/** The tool's own promise may outlive the call: LangChain lets go of a tool that ignores the signal. */
async function untilOver(performing: Promise<unknown>, callScope: CallScope): Promise<void> {
  await Promise.allSettled([performing]);
  await Promise.allSettled([callScope.own]);
}

async function perform(scope: RunScope, journaled: Keyed, callScope: CallScope): Promise<ToolResult> {
  const { caller, call, key, run } = journaled;
  try {
    const result = await inCall(callScope, () => (journaled.writes ? keepingFiles(scope, run) : run()));
    if (scope.closed) throw scope.work.signal.reason; // too late: what became of it is recorded as unknown
    const outcome = outcomeOf(result, callScope);
    const { exit_code } = callScope;
    await recordEnd(scope, key, { outcome, result: packResult(result, exit_code) });
    tellResult(caller, scope, call, { result, outcome, exit_code });
    return result;
  } catch (error) {
    if (error instanceof NotRecorded) throw error.cause;
    // LangGraph looks into what was thrown, and a tool may throw null.
    return endBadly(scope, journaled, error instanceof Error ? error : new Error(messageOf(error), { cause: error }));
  }
}

/** The tool is done, and the storage would not have it: no failure of the tool, which would then be done once more. */
class NotRecorded extends Error {}

const NOT_THE_TOOLS: readonly ErrorCode[] = [...AWAY, "storage_closed", "stale_epoch"];

async function recordEnd({ work, journal }: RunScope, key: ToolCallKey, end: ToolCallEnd): Promise<void> {
  try {
    await retryStorage(work.signal, () => journal.finishToolCall(key, work.lease, end));
  } catch (cause) {
    throw isAppError(cause, ...NOT_THE_TOOLS) ? new NotRecorded("the end of a tool call", { cause }) : cause;
  }
}

/** What the tool did to files is stored before its result is: a result that is known has its files, on every node. */
async function keepingFiles(scope: RunScope, run: () => Promise<ToolResult>): Promise<ToolResult> {
  await scope.workspace.before();
  try {
    return await run();
  } finally {
    if (!scope.closed) await storeFiles(scope);
  }
}

/** A storage that is away is no failure of the tool either. */
async function storeFiles({ workspace, work }: RunScope): Promise<void> {
  try {
    await workspace.after(work.signal);
  } catch (cause) {
    throw isAppError(cause, ...NOT_THE_TOOLS) ? new NotRecorded("the files of a tool call", { cause }) : cause;
  }
}

async function endBadly(scope: RunScope, { caller, call, key, rethrow }: Keyed, error: Error): Promise<ToolResult> {
  const { work, journal } = scope;
  // The tool asked a human first: it begins anew with the answer.
  if (isGraphBubbleUp(error)) {
    await journal.withdrawToolCall(key, work.lease);
    throw error;
  }
  if (work.signal.aborted) throw error; // what became of it is recorded when the run is settled
  const outcome = isAppError(error, "outcome_unknown") ? "unknown" : "error";
  const text = limitText(textOfError(error), MAX_OUTPUT_BYTES);
  const message = new ToolMessage({
    tool_call_id: key.tool_call_id,
    name: call.name,
    status: "error",
    content: `${outcome === "unknown" ? "outcome_unknown" : `${call.name} failed`}: ${text}`,
  });
  const thrown = rethrow && outcome === "error" ? text : undefined;
  const end = { outcome, result: packResult(message, null, thrown) } as const;
  await retryStorage(work.signal, () => journal.finishToolCall(key, work.lease, end));
  tellResult(caller, scope, call, { result: message, outcome, exit_code: null });
  if (rethrow) throw error;
  return message;
}

/** For arguments that don't fit, LangChain's own text has a stack in it: paths of this server, for everybody to read. */
function textOfError(error: Error): string {
  return ToolInvocationError.isInstance(error) ? error.toolError.message : error.message;
}

/** A call of an earlier attempt that came to its end: its result is used, not made again. One that was stopped has none. */
function useResult(
  scope: RunScope,
  { caller, call }: Keyed,
  state: Extract<ToolCallState, { state: "finished" }>,
): ToolResult {
  const { outcome } = state;
  if (state.result === null) {
    const result = stopped(call, outcome);
    tellResult(caller, scope, call, { result, exit_code: null, outcome });
    return result;
  }
  const { result, exit_code, thrown } = unpackResult(state.result);
  tellResult(caller, scope, call, { result, exit_code, outcome });
  if (thrown !== undefined) throw new ThrownBefore(thrown, result);
  return result;
}

/** What a call of a user's own graph threw when it was made: its node is to see that again, and no result. */
export class ThrownBefore extends Error {
  /** What a model is told of it. */
  readonly told: ToolResult;

  constructor(message: string, told: ToolResult) {
    super(message);
    this.told = told;
  }
}

const UNKNOWN_TO_ALL: ApprovalRule = {
  allowed_decisions: ["respond"],
  description:
    "The call was started, then the process ended; whether it took effect is not known. Your answer is what the agent gets as its result.",
};

/** A call that an earlier attempt was in the middle of. What stands for its result is recorded as one, as unknown. */
async function faceUnknown(
  scope: RunScope,
  { caller, call, key }: Keyed,
  on_crash: "never" | "ask",
): Promise<ToolResult> {
  const answered = on_crash === "ask" ? decideCall(caller, call, UNKNOWN_TO_ALL) : undefined;
  const result = ToolMessage.isInstance(answered) ? answered : outcomeUnknown(call);
  const end = { outcome: "unknown" as const, result: packResult(result, null) };
  await scope.journal.finishToolCall(key, scope.work.lease, end);
  tellResult(caller, scope, call, { result, outcome: "unknown", exit_code: null });
  return result;
}

function stopped(call: ToolCall, outcome: ToolOutcome): ToolMessage {
  if (outcome !== "aborted") return outcomeUnknown(call, "its run was stopped");
  const { id = "", name } = call;
  return new ToolMessage({ tool_call_id: id, name, status: "error", content: reasonOf(name, outcome) });
}

function outcomeUnknown({ id = "", name }: ToolCall, then = "the process ended"): ToolMessage {
  return new ToolMessage({
    tool_call_id: id,
    name,
    status: "error",
    content:
      `outcome_unknown: ${name} was started, then ${then}. Whether it took effect is not known. ` +
      "Check what it should have changed before you do it again.",
  });
}

function outcomeOf(result: ToolResult, { failed = false }: CallScope): ToolOutcome {
  return failed || (ToolMessage.isInstance(result) && result.status === "error") ? "error" : "ok";
}
