import { type AIMessage, type BaseMessage, RemoveMessage, type ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { Command, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import type { CloseCall } from "./left-results.ts";
import { openCalls, strayResults } from "./open-calls.ts";
import { findRun } from "./run-scope.ts";
import { closingResult } from "./settle-thread.ts";

/**
 * Providers refuse a conversation in which a tool call has no result, or a result no call: as when it was rewound to the
 * middle of a run. This stands in the place of deepagents' middleware of this name, which puts a step of the graph before
 * each run and looks through the whole conversation for each call in it. What this one mends for the model it mends in the
 * thread too, with the model's answer.
 */
export function createPairedCalls(isRoot = true) {
  return createMiddleware({
    name: "patchToolCallsMiddleware",
    wrapModelCall: async (request, handler) => {
      const close = await closerFor(request.state.messages, isRoot);
      const given = paired(request.messages, close);
      const answer = (await handler(given ? { ...request, messages: given } : request)) as AIMessage;
      const mended = paired(request.state.messages, close);
      if (!mended) return answer;
      return new Command({
        update: { messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...mended, answer] },
      }) as never;
    },
  });
}

/**
 * With a result right behind each call that has none there, and without the results that have no call; undefined if all are in
 * pairs. One that came behind another message is put where it belongs.
 */
export function paired(messages: readonly BaseMessage[], close: CloseCall = notStarted): BaseMessage[] | undefined {
  const open = openCalls(messages);
  const stray = strayResults(messages);
  if (open.size === 0 && stray.length === 0) return undefined;
  const gone = new Set<BaseMessage>(stray);
  return messages.flatMap((message) => {
    // By now those that stand before it have been passed: a result that comes before its call is another call's.
    if (stray[0] === message) stray.shift();
    if (gone.has(message)) return [];
    return [message, ...(open.get(message) ?? []).map((call) => takeResult(stray, call) ?? close(call))];
  });
}

function takeResult(stray: ToolMessage[], { id }: ToolCall): ToolMessage | undefined {
  const at = stray.findIndex(({ tool_call_id }) => tool_call_id === id);
  return at < 0 ? undefined : stray.splice(at, 1)[0];
}

/** What a subagent has left open is its own: it begins anew with every task. */
async function closerFor(messages: readonly BaseMessage[], isRoot: boolean): Promise<CloseCall> {
  const caller = [...openCalls(messages).keys()].at(-1);
  const run = isRoot && caller ? findRun() : undefined;
  return run && caller ? run.leftResults(caller) : notStarted;
}

function notStarted({ id = "", name }: ToolCall): ToolMessage {
  return closingResult(id, name);
}
