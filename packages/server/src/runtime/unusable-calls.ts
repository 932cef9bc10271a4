import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { originOf } from "../model/usage.ts";

/** The model's answer with the calls that nobody may run among its calls: each must have a result, which says why. */
export function withUnusableCalls(answer: AIMessage): AIMessage {
  const unusable = unusableCalls(answer);
  if (unusable.length === 0) return answer;
  const calls = unusable.map(({ id, name }): ToolCall => ({ type: "tool_call", id, name, args: {} }));
  answer.tool_calls = [...(answer.tool_calls ?? []), ...calls];
  return answer;
}

/** Why a call may not run, if the answer that made it says so. */
export function unusableReason({ id }: ToolCall, messages: readonly BaseMessage[]): string | undefined {
  const answer = messages.findLast((message) => AIMessage.isInstance(message));
  return answer && unusableCalls(answer).find((call) => call.id === id)?.reason;
}

function unusableCalls(answer: BaseMessage) {
  return originOf(answer)?.unusable_calls ?? [];
}
