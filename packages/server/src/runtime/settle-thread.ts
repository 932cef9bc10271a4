import type { ToolCallRecord } from "@cognition/thread";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { isOwnCall } from "../run/own-call.ts";
import { DELEGATION } from "./earlier-calls.ts";
import { messageIn, unpackResult } from "./journal-result.ts";
import { openCalls } from "./open-calls.ts";
import type { RunGraph } from "./run-graph.ts";

interface Unfinished {
  message_id: string;
  text: string;
}

export interface Leftovers {
  /** The user's message, which no checkpoint holds if the run was stopped before its first step. */
  input: BaseMessage | undefined;
  unfinished: Unfinished | undefined;
  calls: readonly ToolCallRecord[];
}

/** The node that an answer is said to come from; what follows it is nothing, unless it holds a tool call. */
const MODEL = "model_request";
/** Of a message that nobody has begun to answer: what follows it is the model, for whoever resumes the run. */
const START = "__start__";

const REASONS = {
  aborted: "It was stopped before it finished, since its run was aborted or failed.",
  unknown: "outcome_unknown: the run was stopped while it was running. Whether it took effect is not known.",
  never: "It was not started: the run was stopped before.",
  delegated: "The run was stopped before it was finished. What was done for it until then stays done.",
};

/** What the model is told of a call that has no result. */
export function reasonOf(tool: string, became: keyof typeof REASONS): string {
  return `${tool}: ${REASONS[became]}`;
}

/**
 * Leaves the thread fit for its next message: tool calls without a result get one that says what became of them, and
 * what no checkpoint holds of the user's message and of the answer's text becomes part of the conversation. `asNode` matters: without
 * it the model would stay scheduled after half an answer, and the next message would begin with a call that nobody asked for.
 */
export async function settleThread(
  graph: RunGraph,
  config: object,
  { input, unfinished, calls }: Leftovers,
): Promise<void> {
  const { messages = [] } = (await graph.getState(config)).values;
  const closing = closingResults(messages, calls);
  if (closing.length > 0) await graph.updateState(config, { messages: closing }, "tools");
  const said = unfinished && new AIMessage({ id: unfinished.message_id, content: unfinished.text });
  const known = new Set(messages.map(({ id }) => id));
  const missing = [input, said].filter((message) => message !== undefined && !known.has(message.id));
  if (missing.length > 0) await graph.updateState(config, { messages: missing }, said ? MODEL : START);
}

/**
 * A result for every call of the last message but results that has none, which says what became of it. What an earlier run has
 * left open is closed where it stands, before the next model call: here it would stand behind another message.
 */
export function closingResults(messages: readonly BaseMessage[], calls: readonly ToolCallRecord[]): ToolMessage[] {
  const records = ownRecords(calls);
  const last = messages.findLast((message) => !ToolMessage.isInstance(message));
  const open = (last && openCalls(messages).get(last)) ?? [];
  return open.map(({ id = "", name }) => closingResult(id, name, records.get(id)));
}

/** Those of the session's own agent, by the call's id. */
export function ownRecords(calls: readonly ToolCallRecord[]): ReadonlyMap<string, ToolCallRecord> {
  return new Map(calls.filter(isOwnCall).map((call) => [call.tool_call_id, call]));
}

/** Of a call that nothing is recorded of, it was never started; but of a delegation only what the other agent did is. */
export function closingResult(id: string, name: string, record?: ToolCallRecord): ToolMessage {
  const recorded = record?.result ? messageIn(unpackResult(record.result).result) : undefined;
  if (recorded) return recorded;
  const unrecorded = name === DELEGATION ? "delegated" : "never";
  const became = !record ? unrecorded : record.status === "aborted" ? "aborted" : "unknown";
  return new ToolMessage({ tool_call_id: id, name, status: "error", content: reasonOf(name, became) });
}
