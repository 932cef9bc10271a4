import { isJsonObject } from "@cognition/contract";
import { ToolMessage } from "@langchain/core/messages";
import { isCommand, isGraphBubbleUp } from "@langchain/langgraph";
import { messageOf } from "../file/error-text.ts";
import { aboutAgent } from "./about-agent.ts";
import { takeEarlier } from "./earlier-calls.ts";
import { messageIn } from "./journal-result.ts";
import { jsonCopy } from "./json-copy.ts";
import type { ToolHooks } from "./run-callbacks.ts";
import { currentCall, type RunScope, type Unfollowed } from "./run-scope.ts";
import { textOf } from "./text-of.ts";

/**
 * Tells of the tools that a user's own graph calls by itself. Those that are wrapped for the journal, which knows more,
 * are told by it.
 */
export function createToolEvents(scope: RunScope): ToolHooks {
  const { work, root_agent, unfollowed, calls } = scope;
  const { log } = work;

  return {
    handleToolStart: (_tool, input, runId, _parent, _tags, metadata, runName, toolCallId) => {
      if (currentCall()) return;
      const about = aboutAgent(metadata, root_agent);
      const id = toolCallId ?? runId;
      const { promise, resolve } = Promise.withResolvers<void>();
      unfollowed.set(runId, { id, about, over: resolve });
      calls.set(runId, promise);
      if (!takeEarlier(scope, id, about))
        log.emit("tool_call", { ...about, id, name: runName ?? "tool", args: argsOf(input) });
    },
    handleToolEnd: (output, runId) => {
      const call = end(runId);
      if (!call) return;
      const failed = ToolMessage.isInstance(output) && output.status === "error";
      tell(call, outputOf(output), failed ? "error" : "ok");
    },
    handleToolError: (error, runId) => {
      const call = end(runId);
      if (!call || (error && isGraphBubbleUp(error))) return; // it asks a human, and begins anew with the answer
      tell(call, messageOf(error), work.signal.aborted ? "unknown" : "error");
    },
  };

  function end(runId: string): Unfollowed | undefined {
    const call = unfollowed.get(runId);
    unfollowed.delete(runId);
    calls.delete(runId);
    call?.over();
    return call;
  }

  function tell({ id, about }: Unfollowed, output: string, outcome: "ok" | "error" | "unknown") {
    if (scope.closed) return; // its outcome is told already
    log.emit("tool_result", { ...about, tool_call_id: id, output, exit_code: null, outcome });
  }
}

function argsOf(input: string): Record<string, unknown> {
  try {
    const args: unknown = JSON.parse(input);
    return isJsonObject(args) ? args : { input: args };
  } catch {
    return { input }; // a tool that takes plain text
  }
}

function outputOf(output: unknown): string {
  if (ToolMessage.isInstance(output) || isCommand(output)) return textOf(messageIn(output)?.content);
  return textOf(jsonCopy(output, "The output of a tool"));
}
