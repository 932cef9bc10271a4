import { findTool, type ToolUse } from "../find-tool.ts";
import { findDelegateTool } from "../subagents.ts";
import type { Turn } from "../turn.ts";

const SENTENCES: readonly (readonly [ToolUse, string])[] = [
  ["list", "List the files in this directory."],
  ["write", "Create a file named notes.txt containing exactly the word hello"],
  ["read", "Read notes.txt"],
  ["execute", "Run the command: ls -la"],
  ["todos", "Make a todo list with three steps and work it off"],
];

/** What one may say here, by the tools that there are. */
function examples(turn: Turn): string[] {
  const known = SENTENCES.filter(([use]) => findTool(turn.tools, use)).map(([, sentence]) => sentence);
  const agent = findDelegateTool(turn)?.known[0];
  const [tool] = turn.tools;
  const own = known.length === 0 && tool ? [`Use the ${tool.name} tool`] : [];
  return [...known, ...(agent ? [`Delegate to ${agent}: list the files`] : []), ...own];
}

export function listExamples(turn: Turn): string {
  return `Say for example:\n${examples(turn)
    .map((sentence) => `- ${sentence}`)
    .join("\n")}\n`;
}
