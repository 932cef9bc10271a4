import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";

export function callsOf(message: BaseMessage): readonly ToolCall[] {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
}

/**
 * The calls that no result follows, by the message that made them, in the conversation's order. Some models use an id again:
 * a result that stands before the call is another call's.
 */
export function openCalls(messages: readonly BaseMessage[]): Map<BaseMessage, ToolCall[]> {
  const answered = new Set<string | undefined>();
  const open: [BaseMessage, ToolCall[]][] = [];
  for (const message of messages.toReversed()) {
    if (ToolMessage.isInstance(message)) answered.add(message.tool_call_id);
    const calls = callsOf(message).filter(({ id }) => !answered.has(id));
    if (calls.length > 0) open.push([message, calls]);
  }
  return new Map(open.reverse());
}
