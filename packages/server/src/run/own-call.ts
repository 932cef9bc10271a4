import type { ToolCallRecord } from "@cognition/thread";

/** Whether the session's own agent has made the call. A delegate's calls may have the same ids; their namespace lies within that of its call. */
export function isOwnCall({ checkpoint_ns }: Pick<ToolCallRecord, "checkpoint_ns">): boolean {
  return !checkpoint_ns.includes("|");
}
