import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";

function callsOf(message: BaseMessage): readonly ToolCall[] {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
}

/**
 * The calls that have no result among those right behind the message that made them, by that message, in the conversation's
 * order. What stands elsewhere no provider takes for a result, and some models use an id again.
 */
export function openCalls(messages: readonly BaseMessage[]): Map<BaseMessage, ToolCall[]> {
  const answered = new Set<string | undefined>();
  const open: [BaseMessage, ToolCall[]][] = [];
  for (const message of messages.toReversed()) {
    if (ToolMessage.isInstance(message)) {
      answered.add(message.tool_call_id);
      continue;
    }
    const calls = callsOf(message).filter(({ id }) => !answered.has(id));
    if (calls.length > 0) open.push([message, calls]);
    answered.clear();
  }
  return new Map(open.reverse());
}

/** The results that do not stand right behind a message that made their call. */
export function strayResults(messages: readonly BaseMessage[]): ToolMessage[] {
  let calls: readonly ToolCall[] = [];
  const stray: ToolMessage[] = [];
  for (const message of messages) {
    if (!ToolMessage.isInstance(message)) calls = callsOf(message);
    else if (!calls.some(({ id }) => id === message.tool_call_id)) stray.push(message);
  }
  return stray;
}
