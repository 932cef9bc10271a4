import { editFile, readFile } from "../file-tools.ts";
import { firstVerb } from "../first-verb.ts";
import { findLines, LINES, type LineRange, placeLines } from "../line-range.ts";
import { dropEnd, mask, POLITE, unquote } from "../phrase.ts";
import { changeLines, readShown } from "../shown-file.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import type { ToolResult, Turn } from "../turn.ts";
import { findPath } from "../workspace-path.ts";
import { MAX_LINES } from "./add-to-file-intent.ts";
import { withoutPlace } from "./edit-file-intent.ts";

const REMOVE = new RegExp(`^\\s*${POLITE}(?:delete|remove|erase|cut|drop)\\s+${LINES}\\s*$`, "i");
const REPLACE = new RegExp(
  `^\\s*${POLITE}(?:replace|change|set|update|turn|overwrite|make|edit)\\s+${LINES}\\s+(?:to\\s+say|to\\s+read|so\\s+that\\s+it\\s+says|to|with|by|into|say|read|be)\\s+(?:the\\s+(?:text|words?|line)\\s+)?(\\S[\\s\\S]*)$`,
  "i",
);
/** Which lines those are is not told by their place. */
const SOME_LINES = /\b(?:empty|blank|duplicate|repeated|odd|even|other|long|short)\s+lines\b/i;

/** Lines of a file that are told by their place: the second, the last two, 3 to 5. */
export const editLinesIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (path === undefined || !/\blines?\b/i.test(instruction)) return undefined;
  const { text, reveal } = mask(withoutPlace(possessed(dropEnd(instruction), path), path));
  if (SOME_LINES.test(text) && firstVerb(instruction) === "delete")
    return say(`I left ${path} as it is: name the lines that are to go by their numbers.`);
  const by = REPLACE.exec(text)?.[1];
  if (by === undefined && !REMOVE.test(text)) return undefined;
  const lines = findLines(text);
  const read = readFile(path, turn, MAX_LINES);
  if (!lines) return undefined;
  if (!read) return say(`I can't edit ${path}: no tool here reads files.`);
  const added = by === undefined ? [] : unquote(reveal(by)).split("\n");
  return [...read, ...followUp((result) => changeRange(path, lines, added, result, turn))];
};

/** "a.txt's first line" */
function possessed(instruction: string, path: string): string {
  const [before = "", ...after] = instruction.split(path);
  const [, line, rest = ""] = /^["'`”]?['’]s?\s+((?:\S+\s+){1,2}lines?)\b([\s\S]*)$/i.exec(after.join(path)) ?? [];
  return line === undefined ? instruction : `${before}the ${line} of ${path}${rest}`;
}

function changeRange(
  path: string,
  lines: LineRange,
  added: readonly string[],
  result: ToolResult,
  turn: Turn,
): readonly Step[] {
  const shown = readShown(result);
  const place = shown.type === "text" ? placeLines(lines, shown.text.split("\n").length) : undefined;
  if (shown.type !== "text" || !place) return say(`I left ${path} as it is: I found no such line in it.`);
  const change = changeLines(shown.text, place.at, place.length, added);
  return editFile(path, change, turn) ?? say(`I can't edit ${path}: no tool here edits files.`);
}
