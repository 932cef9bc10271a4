import { createHash } from "node:crypto";
import { isAppError } from "@cognition/contract";
import type { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { getConfig } from "@langchain/langgraph";
import type { OnCrash } from "../tool/tool.ts";
import { hasBegun } from "./begin-call.ts";
import { tellCall } from "./journal-events.ts";
import { messageIn } from "./journal-result.ts";
import { journaledCall, ThrownBefore, type ToolResult } from "./journaled-call.ts";
import { callName, currentCall, findRun, type RunScope } from "./run-scope.ts";

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
    const { configurable = {}, executionInfo }: Execution = config ?? getConfig() ?? {};
    const checkpoint_ns = String(configurable["checkpoint_ns"] ?? "");
    const perform = (call: ToolCall) => {
      const caller = { agent_name: scope.root_agent, isRoot: true };
      tellCall(caller, scope, call);
      const run = async () => (await tool.invoke({ ...call, type: "tool_call" } as never, config)) as ToolMessage;
      return journaledCall(scope, { caller, call, checkpoint_ns, on_crash, writes: true, rethrow: true, run });
    };
    if (isToolCall(input)) return perform(input).catch(toldIfThrownBefore);
    const place = { checkpoint_ns, attempt: executionInfo?.nodeAttempt ?? 1 };
    return messageIn(await performUnnamed(scope, place, { name: tool.name, input }, perform))?.content;
  };
  return Object.create(tool, { invoke: { value: invoke } }) as T;
}

function isToolCall(input: unknown): input is ToolCall & { type: "tool_call" } {
  return typeof input === "object" && input !== null && (input as { type?: unknown }).type === "tool_call";
}

/** The id is of a model's call, which can be told: made anew it can't be, and thrown again it would fail each retry of its node. */
function toldIfThrownBefore(error: unknown): ToolResult {
  if (error instanceof ThrownBefore) return error.told;
  throw error;
}

/** What LangGraph tells a node of itself. */
type Execution = Pick<RunnableConfig, "configurable"> & { executionInfo?: { nodeAttempt?: number } };

/** One that its retry policy runs again has the namespace that it had. */
interface Place {
  checkpoint_ns: string;
  attempt: number;
}

/**
 * What a call has thrown, its node sees again after a crash. Where the node runs again because of it, by its retry policy or
 * since the run that failed of it is resumed, it is called anew.
 */
async function performUnnamed(
  scope: RunScope,
  place: Place,
  asked: { name: string; input: unknown },
  perform: (call: ToolCall) => Promise<ToolResult>,
): Promise<ToolResult> {
  for (;;) {
    const call = callFor(scope, place, asked);
    const key = { checkpoint_ns: place.checkpoint_ns, tool_call_id: call.id };
    try {
      return await perform(call);
    } catch (error) {
      if (!isAppError(error, "outcome_unknown")) scope.thrown.add(callName(key));
      if (!(error instanceof ThrownBefore) || (await hasBegun(scope, key))) throw error;
    }
  }
}

/**
 * A node that calls a tool by itself has no id for the call. The task, the arguments and how often they came before are
 * the same when the node runs again.
 */
function callFor(
  scope: RunScope,
  { checkpoint_ns, attempt }: Place,
  { name, input }: { name: string; input: unknown },
): ToolCall & { id: string } {
  const args = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : { input };
  const hash = createHash("sha256")
    .update(JSON.stringify([name, input]))
    .digest("hex")
    .slice(0, 16);
  const counted = `${checkpoint_ns} ${attempt} ${hash}`;
  for (let count = scope.unnamed.get(counted) ?? 0; ; count++) {
    const id = `${name}-${hash}-${count}`;
    if (scope.thrown.has(callName({ checkpoint_ns, tool_call_id: id }))) continue;
    scope.unnamed.set(counted, count + 1);
    return { id, name, args, type: "tool_call" };
  }
}
