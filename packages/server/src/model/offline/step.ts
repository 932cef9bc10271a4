import type { OfflineTool } from "./offline-tool.ts";
import type { ToolResult, Turn } from "./turn.ts";

/** One thing to do for a request: call a tool, go on from what the call before gave, or say something in the final reply. */
export type Step =
  | { readonly type: "call"; readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly type: "follow"; readonly up: (result: ToolResult) => readonly Step[]; readonly draft?: string }
  | { readonly type: "say"; readonly text: string };

/** Understands one instruction, or leaves it to the next intent. */
export type Intent = (instruction: string, turn: Turn) => readonly Step[] | undefined;

export function callTool({ name }: OfflineTool, args: Record<string, unknown>): Step[] {
  return [{ type: "call", tool: name, args }];
}

/** `draft`: the file that would be made empty, unless the next step fills it. */
export function followUp(up: (result: ToolResult) => readonly Step[], draft?: string): Step[] {
  return [{ type: "follow", up, ...(draft !== undefined && { draft }) }];
}

export function say(text: string): Step[] {
  return [{ type: "say", text }];
}

/** The steps as far as the results show them: what follows a call that has not returned yet is left open. */
export function settle(steps: readonly Step[], results: readonly ToolResult[]): readonly Step[] {
  const settled: Step[] = [];
  const open = [...steps];
  let calls = 0;
  for (let step = open.shift(); step; step = open.shift()) {
    if (step.type !== "follow") {
      settled.push(step);
      if (step.type === "call") calls++;
      continue;
    }
    if (calls === 0) {
      settled.push(...say("I can't think up what that is: nothing was done before it."));
      continue;
    }
    const previous = results[calls - 1];
    if (!previous) break;
    open.unshift(...step.up(previous));
  }
  return settled;
}
