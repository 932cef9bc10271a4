import { isAppError } from "@cognition/contract";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { type Command, isGraphBubbleUp } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import type { ApprovalRule } from "../agent/agent-definition.ts";
import { messageOf } from "../file/error-text.ts";
import { NOT_THE_RUNS } from "../run/not-the-runs.ts";
import type { OnCrash } from "../tool/tool.ts";
import { hasBegun } from "./begin-call.ts";
import { causeOf } from "./cause-of.ts";
import { decideCall } from "./decide-call.ts";
import { DELEGATION } from "./earlier-calls.ts";
import { type Caller, tellAttempt, tellCall, tellResult } from "./journal-events.ts";
import { journaledCall } from "./journaled-call.ts";
import { currentRun, type RunScope } from "./run-scope.ts";
import { todosRefusal } from "./todos.ts";
import type { ToolRefusal } from "./tool-rules.ts";
import { unusableReason, withUnusableCalls } from "./unusable-calls.ts";

export interface JournalOptions extends Caller {
  onCrash: (tool: string) => OnCrash;
  /** Whether it may change files. */
  writes: (tool: string) => boolean;
  approvals: Readonly<Record<string, ApprovalRule>>;
  refusal: ToolRefusal;
  /** Whom it may delegate to. */
  delegates: readonly string[];
}

type Runtime = { configurable?: Record<string, unknown> };

/**
 * Around every tool call of every agent: ask a human if the agent says so, record the intent, run the tool, record the
 * result, tell the log. After a crash a recorded result is used and an intent without one is faced as what it is.
 */
export function createJournalMiddleware(options: JournalOptions) {
  return createMiddleware({
    name: "journal",
    wrapModelCall: async (request, handler) => {
      const answer = await handler(request);
      return AIMessage.isInstance(answer) ? withUnusableCalls(answer) : (answer as never);
    },
    wrapToolCall: async (request, handler) => {
      const scope = currentRun();
      const unusable = unusableReason(request.toolCall, request.state.messages);
      if (unusable !== undefined) return tellUnusable(options, scope, request.toolCall, unusable);
      const { configurable = {} } = request.runtime as Runtime;
      const checkpoint_ns = String(configurable["checkpoint_ns"] ?? "");
      const refused = await refusalOf(options, scope, request.toolCall, checkpoint_ns);
      const decided = decide(options, request.toolCall, request.state.messages, refused);
      if (ToolMessage.isInstance(decided)) return tellDenied(options, scope, request.toolCall, decided);
      const run = () => Promise.resolve(handler({ ...request, toolCall: decided }));
      tellCall(options, scope, decided);
      // It resumes from its own checkpoint, and its own tools are in the journal: recorded twice, it could never resume.
      if (decided.name === DELEGATION) {
        goOnWhereItStands(configurable);
        return delegated(options, scope, decided, run);
      }
      const on_crash = options.onCrash(decided.name);
      const writes = options.writes(decided.name);
      return journaledCall(scope, { caller: options, call: decided, checkpoint_ns, on_crash, writes, run });
    },
  });
}

/**
 * What a tool may do at this moment is asked of a call that begins. One that an earlier attempt has begun may have done it, whatever
 * the session's mode is by now: an approved plan ends the mode in which it is presented.
 */
async function refusalOf(
  { refusal }: JournalOptions,
  scope: RunScope,
  { id = "", name }: ToolCall,
  checkpoint_ns: string,
): Promise<string | undefined> {
  const reason = refusal(name);
  if (reason === undefined || scope.work.claimed.run.attempt <= 1) return reason;
  return (await hasBegun(scope, { checkpoint_ns, tool_call_id: id })) ? undefined : reason;
}

/** The call as it may run, or the message that stands for its result. */
function decide(
  { approvals, delegates, ...caller }: JournalOptions,
  call: ToolCall,
  messages: readonly BaseMessage[],
  refused: string | undefined,
): ToolCall | ToolMessage {
  const reason = refused ?? delegationRefusal(call, delegates) ?? todosRefusal(call, messages);
  if (reason !== undefined) return notDone(call, reason);
  const rule = Object.hasOwn(approvals, call.name) ? approvals[call.name] : undefined;
  const decided = rule ? decideCall(caller, call, rule) : call;
  // A human who edits it may name anybody, too.
  const edited = ToolMessage.isInstance(decided) ? undefined : delegationRefusal(decided, delegates);
  return edited === undefined ? decided : notDone(call, edited);
}

function notDone({ id = "", name }: ToolCall, reason: string): ToolMessage {
  return new ToolMessage({ tool_call_id: id, name, status: "error", content: reason });
}

/** Deepagents would throw, and end the run, for a name that a model has made up; LangChain tells a stack for what is no text. */
function delegationRefusal({ name, args }: ToolCall, delegates: readonly string[]): string | undefined {
  if (name !== DELEGATION) return undefined;
  const { subagent_type: target = "", description } = args;
  if (!delegates.includes(target as string)) {
    return `There is no subagent "${target}" to delegate to. Valid: ${delegates.join(", ") || "none"}.`;
  }
  return typeof description === "string" ? undefined : `${name} needs a description, as a text: what is to be done.`;
}

/**
 * LangGraph gives the graph of a subagent this key without a value, takes the mere key for a wish to go back, and would make
 * all calls of the subagent's step once more, those that have their results included: each would be told twice.
 */
function goOnWhereItStands(configurable: Record<string, unknown>): void {
  if (configurable["checkpoint_id"] === undefined) delete configurable["checkpoint_id"];
}

async function delegated<T extends ToolMessage | Command>(
  options: JournalOptions,
  scope: RunScope,
  call: ToolCall,
  run: () => Promise<T>,
): Promise<T> {
  try {
    const result = await run();
    tellResult(options, scope, call, { result, outcome: "ok", exit_code: null });
    return result;
  } catch (error) {
    const result = notDone(call, `${call.name} failed: ${messageOf(causeOf(error))}`);
    if (isFailure(scope, error)) tellResult(options, scope, call, { result, outcome: "error", exit_code: null });
    throw error;
  }
}

/** And not a question, nor a run that is stopped or goes to another node: what becomes of the call is told later then. */
function isFailure({ work }: RunScope, error: unknown): boolean {
  if (isGraphBubbleUp(error as Error) || isAppError(causeOf(error), ...NOT_THE_RUNS)) return false;
  // A sibling that fails has LangGraph stop the others.
  return !work.signal.aborted && (error as Error).name !== "AbortError";
}

function tellUnusable(options: JournalOptions, scope: RunScope, call: ToolCall, reason: string): ToolMessage {
  const result = notDone(call, reason);
  tellAttempt(options, scope, call);
  tellResult(options, scope, call, { result, outcome: "error", exit_code: null });
  return result;
}

function tellDenied(options: JournalOptions, scope: RunScope, call: ToolCall, message: ToolMessage): ToolMessage {
  const outcome = message.status === "error" ? "denied" : "ok";
  if (call.name === DELEGATION) tellAttempt(options, scope, call);
  else tellCall(options, scope, call);
  tellResult(options, scope, call, { result: message, outcome, exit_code: null });
  return message;
}
