import type { Change } from "./file-tools.ts";
import { hasFailed, type ToolResult } from "./turn.ts";

const MISSING = /not found|no such|there is no|does(?: not|n't) exist|ENOENT/i;
const EMPTY = /^System reminder: File exists but has empty contents$|^\(?(?:the )?(?:file is )?empty(?: file)?\)?\.?$/i;
/** A tool's own line above the text, and how it tells that there is more. */
const HEADER = /^@@ (.*) @@(?:\n|$)/;
const CUT = /^\[Output was truncated|\bnext offset\b/;
const NUMBERED = /^\s*\d+\t/;

/** What reading a file showed: its text, or that it is not there, or that it could not be shown (whole). */
export type Shown =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "missing" }
  | { readonly type: "unknown" };

export function readShown(result: ToolResult): Shown {
  const { output } = result;
  // A log may begin with "error" too: taken for missing, it would be written over.
  const isMissing = MISSING.test(output) && (result.failed || !output.trim().includes("\n"));
  if (hasFailed(result)) return { type: isMissing ? "missing" : "unknown" };
  if (EMPTY.test(output.trim())) return { type: "text", text: "" };
  const header = HEADER.exec(output);
  if (CUT.test(header?.[1] ?? output.slice(0, 200))) return { type: "unknown" };
  const lines = output.slice(header?.[0].length ?? 0).split("\n");
  const numbered = lines.every((line) => NUMBERED.test(line));
  return { type: "text", text: lines.map((line) => (numbered ? line.replace(NUMBERED, "") : line)).join("\n") };
}

/** Lines of a text exchanged for others, told with no more of what is around them than makes the place the only one. */
export function changeLines(text: string, at: number, removed: number, added: readonly string[]): Change {
  const lines = text.split("\n");
  const isOnlyOne = (part: string) => part.trim() !== "" && text.indexOf(part) === text.lastIndexOf(part);
  for (let around = 1; ; around++) {
    const from = Math.max(0, at - around);
    // Above the first line there is nothing to tell it by: what is below tells it.
    const to = Math.min(lines.length, at + removed + Math.max(0, around - at));
    const before = lines.slice(from, to).join("\n");
    if ((from > 0 || to < lines.length) && !isOnlyOne(before)) continue;
    return { before, after: [...lines.slice(from, at), ...added, ...lines.slice(at + removed, to)].join("\n") };
  }
}
