import type { OfflineTool } from "./offline-tool.ts";
import { ruledOutBy } from "./ruled-out.ts";
import { hasFailed, type ToolResult, type Turn } from "./turn.ts";

/** One thing to do for a request: call a tool, go on from what the call before gave, or say something in the final reply. */
export type Step =
  | {
      readonly type: "call";
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      /** It failed, and the next call does something about that: if this went well, only this is told. */
      readonly isMadeGood?: true;
    }
  | { readonly type: "follow"; readonly up: (result: ToolResult) => readonly Step[]; readonly draft?: string }
  | {
      readonly type: "say";
      readonly text: string;
      /** The file that is not written: what else was to be done with it is left as well. */
      readonly unwritten?: string;
    };

/** Understands one instruction, or leaves it to the next intent. */
export type Intent = (instruction: string, turn: Turn) => readonly Step[] | undefined;

export function callTool({ name }: OfflineTool, args: Record<string, unknown>): Step[] {
  return [{ type: "call", tool: name, args }];
}

/** `draft`: the file that would be made empty, unless the next step fills it. */
export function followUp(up: (result: ToolResult) => readonly Step[], draft?: string): Step[] {
  return [{ type: "follow", up, ...(draft !== undefined && { draft }) }];
}

export function say(text: string, unwritten?: string): Step[] {
  return [{ type: "say", text, ...(unwritten !== undefined && { unwritten }) }];
}

/**
 * The steps as far as the results show them: what follows a call that has not returned yet is left open. What was ruled
 * out is said to be, and what was to go on from it is left as well.
 */
export function settle(steps: readonly Step[], turn: Turn): readonly Step[] {
  const settled: Step[] = [];
  const open = allowed(steps, turn);
  let calls = 0;
  for (let step = open.shift(); step; step = open.shift()) {
    if (step.type === "follow") {
      const next = goOn(step, calls, turn);
      if (!next) break;
      const going = allowed(next, turn);
      settled.push(...madeGood(settled.pop(), going, turn.results[calls - 1]));
      open.unshift(...going);
    } else {
      settled.push(step);
      if (step.type === "call") calls++;
    }
  }
  return settled;
}

function madeGood(last: Step | undefined, going: readonly Step[], result: ToolResult | undefined): Step[] {
  const isMadeGood = result !== undefined && hasFailed(result) && going.some(({ type }) => type === "call");
  return last ? [last.type === "call" && isMadeGood ? { ...last, isMadeGood } : last] : [];
}

function allowed(steps: readonly Step[], turn: Turn): Step[] {
  let isRefused = false;
  return steps.flatMap((step) => {
    if (step.type === "follow" && isRefused) return [];
    const refusal = step.type === "call" ? refuse(step, turn) : undefined;
    isRefused = refusal !== undefined;
    return [refusal ?? step];
  });
}

/** Undefined: it is not known yet. */
function goOn(
  { up }: Extract<Step, { type: "follow" }>,
  calls: number,
  { results }: Turn,
): readonly Step[] | undefined {
  if (calls === 0) return say("I can't think up what that is: nothing was done before it.");
  const previous = results[calls - 1];
  return previous && up(previous);
}

function refuse(call: Extract<Step, { type: "call" }>, turn: Turn): Step | undefined {
  const rule = ruledOutBy(call, turn);
  return rule === undefined
    ? undefined
    : { type: "say", text: `I did not use ${call.tool}, since I was told: ${rule}` };
}
