import type { ToolOutcome } from "@cognition/contract";
import type { ToolCallKey, ToolCallState, ToolJournal } from "@cognition/thread";
import { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { type Command, isGraphBubbleUp } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import type { ApprovalRule } from "../agent/agent-definition.ts";
import type { OnCrash } from "../tool/tool.ts";
import { decideCall } from "./decide-call.ts";
import { messageIn, packResult, unpackResult } from "./journal-result.ts";
import { type CallScope, callName, currentRun, inCall, type RunScope } from "./run-scope.ts";
import { textOf } from "./text-of.ts";
import type { ToolRefusal } from "./tool-gate.ts";

export interface JournalOptions {
  journal: ToolJournal;
  agent_name: string;
  /** True for the session's own agent: the events of the others carry their name. */
  isRoot: boolean;
  onCrash: (tool: string) => OnCrash;
  approvals: Readonly<Record<string, ApprovalRule>>;
  refusal: ToolRefusal;
}

type ToolResult = ToolMessage | Command;
type Runtime = { configurable?: Record<string, unknown> };

/** Resumes from its own checkpoint, and its own tools are in the journal: recorded twice, it could never resume. */
const DELEGATION = "task";

/**
 * Around every tool call of every agent: ask a human if the agent says so, record the intent, run the tool, record the
 * result, tell the log. After a crash a recorded result is used and an intent without one is faced as what it is.
 */
export function createJournalMiddleware(options: JournalOptions) {
  return createMiddleware({
    name: "journal",
    wrapToolCall: async (request, handler) => {
      const scope = currentRun();
      const decided = decide(options, request.toolCall);
      if (ToolMessage.isInstance(decided)) return tellDenied(options, scope, request.toolCall, decided);
      const run = () => Promise.resolve(handler({ ...request, toolCall: decided }));
      tellCall(options, scope, decided);
      if (decided.name === DELEGATION) return run();
      return journaled(options, scope, decided, request.runtime as Runtime, run);
    },
  });
}

/** The call as it may run, or the message that stands for its result. */
function decide({ refusal, approvals }: JournalOptions, call: ToolCall): ToolCall | ToolMessage {
  const reason = refusal(call.name);
  if (reason !== undefined) {
    return new ToolMessage({ tool_call_id: call.id ?? "", name: call.name, status: "error", content: reason });
  }
  const rule = approvals[call.name];
  return rule ? decideCall(call, rule) : call;
}

async function journaled(
  options: JournalOptions,
  scope: RunScope,
  call: ToolCall,
  { configurable = {} }: Runtime,
  run: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const { work } = scope;
  const key: ToolCallKey = {
    thread_id: work.claimed.thread_id,
    checkpoint_ns: String(configurable["checkpoint_ns"] ?? ""),
    tool_call_id: call.id ?? "",
  };
  // The call must be in a durable checkpoint before it may begin: after a crash the model would make it anew, under a
  // name that no intent is found by.
  await work.log.flush();
  const state = await options.journal.beginToolCall({
    ...key,
    lease: work.lease,
    name: call.name,
    args: call.args,
    on_crash: options.onCrash(call.name),
  });
  if (state.state === "finished") return useResult(options, scope, call, state);
  if (state.state === "unknown") return faceUnknown(options, scope, { key, call, on_crash: state.on_crash });
  const callScope: CallScope = {
    tool_call_id: key.tool_call_id,
    idempotency_key: state.idempotency_key,
    agent_name: options.agent_name,
    exit_code: null,
  };
  const running = inCall(callScope, run);
  scope.begun.add(callName(key));
  scope.calls.set(callName(key), running);
  try {
    const result = await running;
    const outcome = outcomeOf(result);
    await options.journal.finishToolCall(key, work.lease, { outcome, result: packResult(result, callScope.exit_code) });
    tellResult(options, scope, call, { result, outcome, exit_code: callScope.exit_code });
    return result;
  } catch (error) {
    return endBadly(options, scope, { key, call, error });
  } finally {
    scope.calls.delete(callName(key));
  }
}

async function endBadly(
  options: JournalOptions,
  scope: RunScope,
  { key, call, error }: { key: ToolCallKey; call: ToolCall; error: unknown },
): Promise<ToolResult> {
  const { work } = scope;
  // The tool asked a human first: it begins anew with the answer.
  if (isGraphBubbleUp(error)) {
    await options.journal.withdrawToolCall(key, work.lease);
    throw error;
  }
  if (work.signal.aborted) throw error; // what became of it is recorded when the run is settled
  const message = new ToolMessage({
    tool_call_id: key.tool_call_id,
    name: call.name,
    status: "error",
    content: `${call.name} failed: ${error instanceof Error ? error.message : String(error)}`,
  });
  await options.journal.finishToolCall(key, work.lease, { outcome: "error", result: packResult(message, null) });
  tellResult(options, scope, call, { result: message, outcome: "error", exit_code: null });
  return message;
}

/** A call of an earlier attempt that came to its end: its result is used, not made again. */
function useResult(
  options: JournalOptions,
  scope: RunScope,
  call: ToolCall,
  state: Extract<ToolCallState, { state: "finished" }>,
): ToolResult {
  const { result, exit_code } = unpackResult(state.result);
  tellResult(options, scope, call, { result, outcome: state.outcome, exit_code });
  return result;
}

interface UnknownCall {
  key: ToolCallKey;
  call: ToolCall;
  on_crash: "never" | "ask";
}

/** A call that an earlier attempt was in the middle of. What stands for its result is recorded as one, as unknown. */
async function faceUnknown(
  options: JournalOptions,
  scope: RunScope,
  { key, call, on_crash }: UnknownCall,
): Promise<ToolResult> {
  const answered = on_crash === "ask" ? decideCall(call, { allowed_decisions: ["respond"] }) : undefined;
  const result = ToolMessage.isInstance(answered) ? answered : outcomeUnknown(call);
  const end = { outcome: "unknown" as const, result: packResult(result, null) };
  await options.journal.finishToolCall(key, scope.work.lease, end);
  tellResult(options, scope, call, { result, outcome: "unknown", exit_code: null });
  return result;
}

function outcomeUnknown({ id = "", name }: ToolCall): ToolMessage {
  return new ToolMessage({
    tool_call_id: id,
    name,
    status: "error",
    content:
      `outcome_unknown: ${name} was started, then the process ended. Whether it took effect is not known. ` +
      "Check what it should have changed before you do it again.",
  });
}

function outcomeOf(result: ToolResult): ToolOutcome {
  return ToolMessage.isInstance(result) && result.status === "error" ? "error" : "ok";
}

function about({ agent_name, isRoot }: JournalOptions): { agent?: string } {
  return isRoot ? {} : { agent: agent_name };
}

function tellCall(options: JournalOptions, { work }: RunScope, call: ToolCall): void {
  const { id = "", name, args } = call;
  work.log.emit("tool_call", { ...about(options), id, name, args });
  if (name !== DELEGATION) return;
  const { subagent_type, description } = args as { subagent_type?: string; description?: string };
  work.log.emit("delegation", { ...about(options), target_agent: subagent_type ?? "", task: description ?? "" });
}

interface Told {
  result: ToolResult;
  outcome: ToolOutcome;
  exit_code: number | null;
}

function tellResult(
  options: JournalOptions,
  { work }: RunScope,
  call: ToolCall,
  { result, outcome, exit_code }: Told,
): void {
  const output = textOf(messageIn(result)?.content);
  work.log.emit("tool_result", { ...about(options), tool_call_id: call.id ?? "", output, exit_code, outcome });
}

function tellDenied(options: JournalOptions, scope: RunScope, call: ToolCall, message: ToolMessage): ToolMessage {
  const outcome = message.status === "error" ? "denied" : "ok";
  tellCall(options, scope, call);
  tellResult(options, scope, call, { result: message, outcome, exit_code: null });
  return message;
}
