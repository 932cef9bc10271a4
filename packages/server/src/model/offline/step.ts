import type { OfflineTool } from "./offline-tool.ts";
import type { Turn } from "./turn.ts";

/** One thing to do for a request: call a tool, or say something in the final reply. */
export type Step =
  | { readonly type: "call"; readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly type: "say"; readonly text: string };

/** Understands one instruction, or leaves it to the next intent. */
export type Intent = (instruction: string, turn: Turn) => readonly Step[] | undefined;

export function callTool({ name }: OfflineTool, args: Record<string, unknown>): Step[] {
  return [{ type: "call", tool: name, args }];
}

export function say(text: string): Step[] {
  return [{ type: "say", text }];
}
