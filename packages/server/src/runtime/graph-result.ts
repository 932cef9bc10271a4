import type { Interrupt } from "@cognition/contract";
import type { RunResult } from "../run/executor.ts";
import type { CustomGraph } from "./custom-graph.ts";
import { toInterrupt } from "./decide-call.ts";
import { jsonCopy } from "./json-copy.ts";
import type { Asked } from "./open-questions.ts";
import { structuredResponse } from "./response-tool.ts";
import type { GraphState } from "./run-graph.ts";
import type { UsageMeter } from "./usage-meter.ts";

export interface Finished {
  usage: UsageMeter;
  custom: CustomGraph | undefined;
  state: GraphState;
  asked: Asked;
  /** What a user's own graph gave last, as its caller would get it. */
  output: unknown;
}

/** What a graph that has stopped by itself has come to. */
export function graphResult(finished: Finished): RunResult {
  const { usage, custom, state, asked, output } = finished;
  const interrupts = interruptsOf(state, custom, asked);
  const { finished_beside } = asked;
  if (interrupts.length > 0) return { outcome: "waiting", interrupts, usage: usage.total(), finished_beside };
  const structured = custom ? outputOf(output) : structuredResponse(state.values.messages);
  return {
    outcome: "succeeded",
    usage: usage.total(),
    ...(structured === undefined ? {} : { structured_response: jsonCopy(structured, "The graph's output") }),
  };
}

function interruptsOf(
  { next, config }: GraphState,
  custom: CustomGraph | undefined,
  { questions }: Asked,
): Interrupt[] {
  const asked = questions.map(({ id, interrupt_id, value }): Interrupt => {
    const told = jsonCopy(value, "What the graph asks");
    return interrupt_id === undefined ? breakpoint(id, told) : toInterrupt(id, told);
  });
  if (asked.length > 0 || next.length === 0 || !custom) return asked;
  // Compiled with interruptBefore or interruptAfter.
  return [breakpoint(`breakpoint-${config?.configurable?.checkpoint_id ?? ""}`, { next: [...next] })];
}

/** It asks for nothing but to be let on. */
function breakpoint(id: string, value: unknown): Interrupt {
  return { id, value, allowed_decisions: ["approve"] };
}

/** Its messages are the conversation; the rest is what the graph came to, or what an agent of LangChain's calls so. */
function outputOf(output: unknown): unknown {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return output;
  const { messages: _, structuredResponse: answer, ...rest } = output as Record<string, unknown>;
  if (answer !== undefined) return answer;
  return Object.keys(rest).length > 0 ? rest : undefined;
}
