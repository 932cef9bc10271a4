import { createHash } from "node:crypto";
import type { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { getConfig } from "@langchain/langgraph";
import type { OnCrash } from "../tool/tool.ts";
import { tellCall } from "./journal-events.ts";
import { messageIn } from "./journal-result.ts";
import { journaledCall } from "./journaled-call.ts";
import { currentCall, findRun, type RunScope } from "./run-scope.ts";

export interface JournalToolOptions {
  /** What a crash between the call's start and its result means; `never` (tell the graph that nobody knows) by default. */
  on_crash?: OnCrash;
}

/**
 * A LangChain tool of a user's own graph, in the journal: it runs at most once per call, unless it is declared safe to
 * retry. Outside of a run it is the tool as it was.
 */
export function journalTool<T extends StructuredToolInterface>(tool: T, options: JournalToolOptions = {}): T {
  const { on_crash = "never" } = options;
  const invoke = async (input: unknown, config?: RunnableConfig): Promise<unknown> => {
    const scope = findRun();
    if (!scope || currentCall()) return tool.invoke(input as never, config);
    const { configurable = {} } = config ?? getConfig() ?? {};
    const checkpoint_ns = String(configurable["checkpoint_ns"] ?? "");
    const given = isToolCall(input) ? input : undefined;
    const call = given ?? callFor(scope, tool.name, input, checkpoint_ns);
    const caller = { agent_name: scope.root_agent, isRoot: true };
    tellCall(caller, scope, call);
    const result = await journaledCall(scope, {
      caller,
      call,
      checkpoint_ns,
      on_crash,
      writes: true,
      rethrow: true,
      run: async () => (await tool.invoke({ ...call, type: "tool_call" } as never, config)) as ToolMessage,
    });
    return given ? result : messageIn(result)?.content;
  };
  return Object.create(tool, { invoke: { value: invoke } }) as T;
}

function isToolCall(input: unknown): input is ToolCall & { type: "tool_call" } {
  return typeof input === "object" && input !== null && (input as { type?: unknown }).type === "tool_call";
}

/**
 * A node that calls a tool by itself has no id for the call. The task, the arguments and how often they came before are
 * the same when the node runs again.
 */
function callFor(scope: RunScope, name: string, input: unknown, checkpoint_ns: string): ToolCall {
  const args = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : { input };
  const hash = createHash("sha256")
    .update(JSON.stringify([name, input]))
    .digest("hex")
    .slice(0, 16);
  const places = `${checkpoint_ns} ${hash}`;
  const count = scope.unnamed.get(places) ?? 0;
  scope.unnamed.set(places, count + 1);
  return { id: `${name}-${hash}-${count}`, name, args, type: "tool_call" };
}
