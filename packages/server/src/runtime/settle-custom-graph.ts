import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { START } from "@langchain/langgraph";
import type { CustomGraph } from "./custom-graph.ts";
import { openCalls } from "./open-calls.ts";
import type { GraphState } from "./run-graph.ts";
import type { RunScope } from "./run-scope.ts";
import { closingResults, type Leftovers } from "./settle-thread.ts";

/**
 * Leaves a user's own graph fit for its next message. Which of its nodes says what is unknown, so messages are added as
 * those that were running: the next input begins at the start in any case, and a run that is resumed goes on after them.
 */
export async function settleCustomGraph(
  { graph, hasMessages }: CustomGraph,
  config: object,
  { input, unfinished, calls }: Leftovers,
): Promise<void> {
  if (!hasMessages) return;
  const state = await graph.getState(config);
  const { messages = [] } = state.values;
  if (!messages.every(isMessage)) return; // a channel of that name which holds something else
  const closing = closingResults(messages, calls);
  const said = unfinished && new AIMessage({ id: unfinished.message_id, content: unfinished.text });
  const known = new Set(messages.map(({ id }) => id));
  const missing = [...closing, input, said].filter(
    (message): message is BaseMessage => message !== undefined && (message.id === undefined || !known.has(message.id)),
  );
  if (missing.length > 0) await graph.updateState(config, { messages: missing }, speakerOf(state));
}

/**
 * Results for the calls that the conversation ends with, which come before the next message: a run that was aborted while it
 * waited, or was rewound to its middle, left them, and a user's graph has nobody that closes them. Its provider would refuse this
 * message, and every later one.
 */
export async function leftOpen(
  custom: CustomGraph | undefined,
  config: object,
  { work, leftResults }: Pick<RunScope, "work" | "leftResults">,
): Promise<ToolMessage[]> {
  if (!custom?.hasMessages || custom.replacesMessages || work.claimed.run.checkpoint_id === null) return [];
  const { messages = [] } = (await custom.graph.getState(config)).values;
  if (!messages.every(isMessage)) return [];
  const last = messages.findLast((message) => !ToolMessage.isInstance(message));
  const open = last && openCalls(messages).get(last);
  return open ? open.map(await leftResults(last)) : [];
}

function isMessage(value: unknown): value is BaseMessage {
  return typeof (value as BaseMessage | null)?.getType === "function";
}

/** Where LangGraph can't tell which node spoke last, the update is one of the input's. */
function speakerOf({ next }: GraphState): string {
  return next[0] ?? START;
}
