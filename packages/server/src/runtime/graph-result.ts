import type { Interrupt } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { RunResult, RunWork } from "../run/executor.ts";
import type { CustomGraph } from "./custom-graph.ts";
import { toInterrupt } from "./decide-call.ts";
import { jsonCopy } from "./json-copy.ts";
import { structuredResponse } from "./response-tool.ts";
import type { GraphState } from "./run-graph.ts";
import type { UsageMeter } from "./usage-meter.ts";

export interface Finished {
  storage: Storage;
  work: RunWork;
  usage: UsageMeter;
  custom: CustomGraph | undefined;
  state: GraphState;
  /** What a user's own graph gave last, as its caller would get it. */
  output: unknown;
}

/** What a graph that has stopped by itself has come to. */
export async function graphResult(finished: Finished): Promise<RunResult> {
  const { storage, work, usage, custom, state, output } = finished;
  const over = asksIn(state).length > 0 ? await finishedTasks(storage, work) : new Set<string>();
  const interrupts = interruptsOf(state, custom, over);
  if (interrupts.length > 0)
    return { outcome: "waiting", interrupts, usage: usage.total(), finished_beside: over.size > 0 };
  const structured = custom ? outputOf(output) : structuredResponse(state.values.messages);
  return {
    outcome: "succeeded",
    usage: usage.total(),
    ...(structured === undefined ? {} : { structured_response: jsonCopy(structured, "The graph's output") }),
  };
}

function asksIn({ tasks }: GraphState): GraphState["tasks"] {
  return tasks.filter(({ interrupts = [] }) => interrupts.length > 0);
}

/** What a task has written that is not the end of it. */
const UNFINISHED = new Set(["__interrupt__", "__resume__", "__error__", "__scheduled__"]);

/**
 * The tasks of this step that have come to their end. LangGraph shows what a task has asked until the whole step is over,
 * also of one that was answered and is done.
 */
async function finishedTasks(storage: Storage, { claimed }: RunWork): Promise<ReadonlySet<string>> {
  const saver = await storage.getCheckpointer();
  const tuple = await saver.getTuple({ configurable: { thread_id: claimed.thread_id } });
  const ends = (tuple?.pendingWrites ?? []).filter(([, channel]) => !UNFINISHED.has(channel));
  return new Set(ends.map(([task_id]) => task_id));
}

function interruptsOf(state: GraphState, custom: CustomGraph | undefined, over: ReadonlySet<string>): Interrupt[] {
  const { next, config } = state;
  const asked = asksIn(state)
    .filter(({ id = "" }) => !over.has(id))
    .flatMap(({ interrupts = [] }) =>
      interrupts.map(({ id = "", value }) => toInterrupt(id, jsonCopy(value, "What the graph asks"))),
    );
  if (asked.length > 0 || next.length === 0 || !custom) return asked;
  // Compiled with interruptBefore or interruptAfter: it asks for nothing but to be let on.
  const id = `breakpoint-${config?.configurable?.checkpoint_id ?? ""}`;
  return [{ id, value: { next: [...next] }, allowed_decisions: ["approve"] }];
}

/** Its messages are the conversation; the rest is what the graph came to, or what an agent of LangChain's calls so. */
function outputOf(output: unknown): unknown {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return output;
  const { messages: _, structuredResponse: answer, ...rest } = output as Record<string, unknown>;
  if (answer !== undefined) return answer;
  return Object.keys(rest).length > 0 ? rest : undefined;
}
