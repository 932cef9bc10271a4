import { placeLast, readContent } from "../file-content.ts";
import { editFile, readFile, writeFile } from "../file-tools.ts";
import { firstVerb } from "../first-verb.ts";
import { unquote } from "../phrase.ts";
import { changeLines, readShown } from "../shown-file.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import type { ToolResult, Turn } from "../turn.ts";
import { findPath } from "../workspace-path.ts";

const NEW_FILE = /\b(?:add|insert)\s+(?:an?\s+|the\s+)?(?:new\s+|empty\s+)*(?:text\s+)?file\b/i;
const ANOTHER = /\b(?:another|one more|(?:a|the) new|an extra)\s+(?:line|entry|sentence|item|paragraph)\b/i;
const END = /\s*\b(?:to|at|on|in|into)\s+(?:the\s+)?(?:very\s+)?(?:end|bottom)\b(?:\s+of\b)?/i;
const START = /\s*\b(?:to|at|on|in|into)\s+(?:the\s+)?(?:very\s+)?(?:top|beginning|start|front)\b(?:\s+of\b)?/i;
const BESIDE =
  /\s+(?:right\s+)?(after|below|under|before|above)\s+(?:the\s+)?(?:line\s+|word\s+|text\s+)?(["'`“][^"'`”]+["'`”]|\S+)(?=\s+(?:in|of|to)\b|\s*$)/i;
/** A file that is longer is left as it is. */
const MAX_LINES = 100_000;

interface Addition {
  readonly text: string;
  /** Above which line it goes; -1: there is no such line. */
  readonly above: (lines: readonly string[]) => number;
}

/** A text to be added to a file that stays otherwise as it is: what is there is read first. */
export const addToFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (path === undefined) return undefined;
  const order = placeLast(instruction, path);
  if (!isAddition(order)) return undefined;
  const addition = readAddition(order, path);
  if (addition.text === "") return say(`Tell me what to add. Say for example: Add the line "hello" to ${path}`);
  const read = readFile(path, turn, MAX_LINES);
  if (!read) return say(`I can't add to ${path}: no tool here reads files.`);
  return [...read, ...followUp((result) => addTo(path, addition, result, turn))];
};

function isAddition(instruction: string): boolean {
  const verb = firstVerb(instruction);
  if (verb === "add") return !NEW_FILE.test(instruction);
  return verb === "write" && [END, START, ANOTHER].some((form) => form.test(instruction));
}

function readAddition(instruction: string, path: string): Addition {
  const beside = BESIDE.exec(instruction);
  const neighbour = unquote(beside?.[2] ?? "");
  const isFirst = START.test(instruction) || /\bprepend\b/i.test(instruction);
  const order = instruction
    .replace(BESIDE, "")
    .replace(END, " to")
    .replace(START, " to")
    .replace(/\bto\s+to\b/i, "to");
  const rest = order.slice(order.indexOf(path) + path.length);
  return {
    text: readContent(order, path) ?? unquote(rest.replace(/^["'`”]?\s*(?:the (?:line|text|word)s?\s+)?/i, "")),
    above: (lines) => {
      if (!beside) return isFirst ? 0 : lines.length;
      const at = lines.findIndex((line) => line.includes(neighbour));
      return at === -1 || /before|above/i.test(beside[1] ?? "") ? at : at + 1;
    },
  };
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
