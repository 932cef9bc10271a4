import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { todoListMiddleware } from "langchain";

export const WRITE_TODOS = "write_todos";

/**
 * LangChain's plan. Its own has a step of the graph behind every model call, to refuse several plans at once; here that is the
 * journal's, with whatever else is refused.
 */
export function createTodos() {
  const { afterModel: _, ...todos } = todoListMiddleware();
  return todos;
}

/** Each call replaces the whole plan: of several at once none can be the one that is meant. */
export function todosRefusal({ name }: ToolCall, messages: readonly BaseMessage[]): string | undefined {
  if (name !== WRITE_TODOS) return undefined;
  const calls = messages.findLast((message) => AIMessage.isInstance(message))?.tool_calls ?? [];
  if (calls.filter((call) => call.name === WRITE_TODOS).length < 2) return undefined;
  return `${WRITE_TODOS} replaces the whole list, so it may be called only once at a time. Call it again, once, with all of the list.`;
}
