import type { OnCrash, ToolEffect, ToolSummary } from "./tool.ts";

/**
 * The tools that the graph engine brings, which the runtime puts on the session's workspace. Here is what must be known of
 * them to check a definition and to limit an agent. What changes files is not repeated after a crash: the second time it
 * would meet what the first one did.
 */
const TOOLS: Record<string, { effect: ToolEffect; on_crash: OnCrash; description: string }> = {
  ls: { effect: "read", on_crash: "retry", description: "Lists the files of a folder." },
  read_file: { effect: "read", on_crash: "retry", description: "Reads a file." },
  glob: { effect: "read", on_crash: "retry", description: "Finds files by a pattern of their paths." },
  grep: { effect: "read", on_crash: "retry", description: "Finds text in files." },
  write_file: { effect: "write", on_crash: "never", description: "Makes a file." },
  edit_file: { effect: "write", on_crash: "never", description: "Replaces text in a file." },
  delete: { effect: "write", on_crash: "never", description: "Deletes a file." },
  execute: { effect: "execute", on_crash: "never", description: "Runs a command in the sandbox." },
  // The plan is part of the thread's state, which rewinds and forks with it: nothing outside changes.
  write_todos: { effect: "read", on_crash: "retry", description: "Writes the plan of the work." },
  // What a delegate may do is limited by who it is; see `planDelegation`.
  task: { effect: "read", on_crash: "retry", description: "Delegates a task to another agent." },
  read_skill: { effect: "read", on_crash: "retry", description: "Reads a skill, or a file of its folder." },
  // Its answer is a message of the thread.
  structured_response: { effect: "read", on_crash: "retry", description: "Gives the answer in the form asked for." },
  present_plan: { effect: "read", on_crash: "retry", description: "Shows the plan for approval, in plan mode." },
  note_insight: { effect: "write", on_crash: "retry", description: "Notes down an insight for the session's task." },
  note_fact: { effect: "write", on_crash: "retry", description: "Notes down a fact for the session's task." },
};

export const RUNTIME_TOOLS: readonly ToolSummary[] = Object.entries(TOOLS).map(([name, tool]) => ({
  name,
  ...tool,
  source: "builtin",
  origin: null,
}));
