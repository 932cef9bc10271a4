import { NUMBER, numbersIn, readList } from "../coerce-value.ts";
import { hidePlace, PLACE, placeLast, readContent } from "../file-content.ts";
import { editFile, readFile, writeFile } from "../file-tools.ts";
import { firstVerb } from "../first-verb.ts";
import { findLines, LINES, type LineRange } from "../line-range.ts";
import { isMadeUp } from "../made-up.ts";
import { mask, POLITE, unquote } from "../phrase.ts";
import { changeLines, readShown } from "../shown-file.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import type { ToolResult, Turn } from "../turn.ts";
import { findPath } from "../workspace-path.ts";

/** Whoever says beside which line it is to stand knows what JSON takes there. */
const PLACED = /\b(?:line|after|before|above|below|under|between|top|beginning|start)\b/i;
const BLANK = /^(?:an?|one)\s+(?:new\s+)?(?:blank|empty)\s+line$/i;
/** "append two lines to a.txt: foo and bar" */
const COUNTED = new RegExp(`\\b(${NUMBER})\\s+(?:new\\s+|more\\s+)?(?:lines?|rows?|entries|items?)\\b`, "i");
const NEW_FILE = /\b(?:add|insert)\s+(?:an?\s+|the\s+)?(?:new\s+|empty\s+)*(?:text\s+)?file\b/i;
const PUT = new RegExp(`^\\s*${POLITE}(?:put|write|place|type)\\b`, "i");
const ANOTHER =
  /^\W*(?:\w+\s+){1,4}?(?:another|one more|(?:a|the) new|an extra)\s+(?:line|entry|sentence|item|paragraph)\b/i;
// Only next to the file, or at the end: "at the end of the day" may be what is to be added.
const PLACE_OF = `(?:\\s+of(?=\\s+(?:the\\s+)?(?:file\\s+)?${PLACE})|(?=\\s+to\\s+${PLACE})|(?=[.!]?$))`;
const END = new RegExp(`\\s*\\b(?:to|at|on|in|into)\\s+(?:the\\s+)?(?:very\\s+)?(?:end|bottom)${PLACE_OF}`, "i");
const START = new RegExp(
  `\\s*\\b(?:to|at|on|in|into)\\s+(?:the\\s+)?(?:very\\s+)?(?:top|beginning|start|front)${PLACE_OF}`,
  "i",
);
const BESIDE = new RegExp(
  `\\s+(?:right\\s+)?(after|below|under|before|above)\\s+(?:the\\s+)?(?:line\\s+(\\d+)|(?:line\\s+|word\\s+|text\\s+)?(\\S+))(?=\\s+(?:in|of)\\s+(?:the\\s+)?(?:file\\s+)?${PLACE})`,
  "i",
);
const AT_LINE = new RegExp(
  `\\s+(?:at|as|on|in|into)\\s+(?:the\\s+)?(?:new\\s+)?(${LINES})(?=\\s+(?:in|of|to|into)\\s+(?:the\\s+)?(?:file\\s+)?${PLACE}|[.!?]?$)`,
  "i",
);
const BETWEEN = new RegExp(
  `\\s+between\\s+(?:the\\s+)?(?:lines?\\s+)?(\\S+)\\s+and\\s+(?:the\\s+)?(?:line\\s+)?(\\S+)(?=\\s+(?:in|of)\\s+(?:the\\s+)?(?:file\\s+)?${PLACE})`,
  "i",
);
/** What is left of "at line 2 of a.txt" once the line is told. */
const OF_PLACE = new RegExp(
  `(?<!\\b(?:end|bottom|top|beginning|start|front))\\s+of(?=\\s+(?:the\\s+)?(?:file\\s+)?${PLACE})`,
  "i",
);
const ON_ITS_OWN = /\s+(?:on|as|in)\s+(?:a|its|an)\s+(?:new\s+|own\s+|separate\s+|extra\s+)+line\b/i;
/** A file that is longer is left as it is. */
export const MAX_LINES = 100_000;

interface Addition {
  readonly text: string;
  /** Above which line it goes; -1: there is no such line. */
  readonly above: (lines: readonly string[]) => number;
}

/** A text to be added to a file that stays otherwise as it is: what is there is read first. */
export const addToFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  const addition = path === undefined ? undefined : readAddition(placeLast(instruction, path), path);
  if (path === undefined || !addition) return undefined;
  if (/\.json$/i.test(path) && !PLACED.test(instruction))
    return say(`I left ${path} as it is: a line more would make no JSON of it. I can set a value that it has already.`);
  if (BLANK.test(addition.text)) return add(path, { ...addition, text: "" }, turn);
  if (addition.text === "" || isMadeUp(addition.text, instruction))
    return say(`Tell me what to add. Say for example: Add the line "hello" to ${path}`, path);
  return add(path, addition, turn);
};

/** A text at a file's end, without a word about where it goes. */
export function addText(path: string, text: string, turn: Turn): readonly Step[] {
  return add(path, { text, above: (lines) => lines.length }, turn);
}

function add(path: string, addition: Addition, turn: Turn): readonly Step[] {
  const read = readFile(path, turn, MAX_LINES);
  if (!read) return say(`I can't add to ${path}: no tool here reads files.`);
  return [...read, ...followUp((result) => addTo(path, addition, result, turn))];
}

function readAddition(instruction: string, path: string): Addition | undefined {
  const { text, reveal } = mask(hidePlace(instruction, path));
  const isPut = PUT.test(text) && [END, START, ANOTHER].some((form) => form.test(text));
  if (!isPut && (firstVerb(instruction) !== "add" || NEW_FILE.test(text))) return undefined;
  const order = text
    .replace(ON_ITS_OWN, "")
    .replace(BETWEEN, "")
    .replace(AT_LINE, "")
    .replace(BESIDE, "")
    .replace(OF_PLACE, " to")
    .replace(END, " to")
    .replace(START, " to")
    .replace(/\bto\s+to\b/i, "to");
  const said = reveal(order).replace(PLACE, () => path);
  const rest = said.slice(said.indexOf(path) + path.length);
  const added = readContent(said, path) ?? unquote(rest.replace(/^["'`”]?\s*(?:the (?:line|text|word)s?\s+)?/i, ""));
  const lines = readList(added);
  return {
    text: lines.length > 1 && lines.length === numbersIn(COUNTED.exec(text)?.[1] ?? "")[0] ? lines.join("\n") : added,
    above: lineFinder(text, reveal),
  };
}

function lineFinder(text: string, reveal: (part: string) => string): Addition["above"] {
  const [beside, where = "", number, neighbour = ""] = BESIDE.exec(text) ?? [];
  const line = AT_LINE.exec(text)?.[1];
  if (line !== undefined) return (lines) => placeOf(findLines(line), lines.length);
  const [between, upper = "", lower = ""] = BETWEEN.exec(text) ?? [];
  if (between !== undefined) return (lines) => gapOf(unquote(reveal(upper)), unquote(reveal(lower)), lines);
  const isFirst = START.test(text) || /\bprepend\b/i.test(text);
  return (lines) => {
    if (beside === undefined) return isFirst ? 0 : lines.length;
    const at =
      number === undefined
        ? lines.findIndex((line) => line.includes(unquote(reveal(neighbour))))
        : lines.findIndex((_, index) => index + 1 === Number(number));
    return at === -1 || /before|above/i.test(where) ? at : at + 1;
  };
}

/** "as the last line" is below all that there are; so is the line that comes next. */
function placeOf(range: LineRange | undefined, count: number): number {
  if (range === undefined || range.first > count + 1) return -1;
  return range.first < 0 ? count : range.first - 1;
}

function gapOf(upper: string, lower: string, lines: readonly string[]): number {
  const isNamed = (line: string | undefined, name: string, at: number) =>
    /^\d+$/.test(name) ? at + 1 === Number(name) : line?.includes(name);
  const at = lines.findIndex(
    (line, index) => isNamed(line, upper, index) && isNamed(lines[index + 1], lower, index + 1),
  );
  return at === -1 ? -1 : at + 1;
}

function addTo(path: string, { text, above }: Addition, result: ToolResult, turn: Turn): readonly Step[] {
  const shown = readShown(result);
  if (shown.type === "unknown") return say(`I left ${path} as it is: I could not read all of it.`);
  if (shown.type === "missing" || shown.text === "")
    return writeFile(path, text, turn) ?? say(`I can't write ${path}: no tool here writes files.`);
  const at = above(shown.text.split("\n"));
  if (at === -1) return say(`I left ${path} as it is: what you named is not in it.`);
  const change = changeLines(shown.text, at, 0, text.split("\n"));
  return editFile(path, change, turn) ?? say(`I can't add to ${path}: no tool here edits files.`);
}
