import { type Change, editFile, readFile, writeFile } from "../file-tools.ts";
import { dropEnd, literal, mask, unquote } from "../phrase.ts";
import { changeLines, readShown } from "../shown-file.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import type { ToolResult, Turn } from "../turn.ts";
import { findPath } from "../workspace-path.ts";
import { MAX_LINES } from "./add-to-file-intent.ts";

const FORMS: readonly RegExp[] = [
  /\b(?:replace|substitute|swap)\s+(?:all\s+|every\s+|each\s+)?(?:the\s+)?(?:occurrences?\s+of\s+|instances?\s+of\s+|words?\s+|text\s+|string\s+)*([\s\S]+?)\s+(?:with|by|for)\s+(?:the\s+)?(?:word\s+|text\s+)?([\s\S]+)$/i,
  /\b(?:change|turn|rename|convert|edit|update|fix|correct)\s+(?:all\s+|every\s+)?(?:the\s+)?(?:typo\s+)?(?:occurrences?\s+of\s+|instances?\s+of\s+)?(?:words?\s+|text\s+)?([\s\S]+?)\s+(?:to|into)\s+([\s\S]+)$/i,
];
/** "… hello to bye and world to mars" */
const AND_ANOTHER = /^([\s\S]+?),?\s+and\s+(?:replace\s+|change\s+)?([\s\S]+?)\s+(?:to|into|with|by)\s+([\s\S]+)$/i;
/** To be replaced as a whole: that is a file to write. */
const WHOLE = /^(?:whole\s+|entire\s+)?(?:contents?|text|everything|lines|file|it)$/i;
/** "every file apart from notes.txt" */
const OTHERS = /^(?:\w+\s+)?files?\b|\b(?:apart|aside|except|but)\b/i;
/** What stands before the path in "remove the line hello from notes.txt". */
const REMOVAL =
  /\b(?:remove|delete|erase|cut|take)\s+(?:(?:all|every|each|any|the)\s+)*(?:(?<line>line\s+|(?=(?:first|last)\s+line\b))(?:saying\s+|containing\s+|with\s+)?|(?:occurrences?\s+of\s+|words?\s+|text\s+)*)(?<text>\S[\s\S]*?)\s+(?:from|out of|in|of)\s+(?:the\s+)?(?:file\s+)?["'`]?$/i;
/** "remove all lines containing TODO" */
const LINES_WITH =
  /^\s*(?:please\s+)?(?:remove|delete|erase|cut|drop)\s+(?:(?:all|every|each|any|of|the)\s+)*(?:lines|(?<=\b(?:every|each|any)\s+)line)\s+(?:that\s+|which\s+)?(?:contain(?:ing|s)?|with|mention(?:ing|s)?|includ(?:ing|es?)|ha(?:ve|s|ving)|(?<starts>start(?:ing|s)?|begin(?:ning|s)?)\s+with|(?<ends>end(?:ing|s)?)\s+(?:with|in))\s+(?:the\s+(?:word|text|string|phrase)\s+|an?\s+(?=#|\uE000))?(\S[\s\S]*)$/i;
const ALL_OVER = /,?\s+(?:everywhere|throughout|all over|in all places)(?=\s*$)/i;
const EVERYWHERE = /\b(?:all|every|each|everywhere|throughout)\b/i;

/** "in all files" */
const ANYWHERE =
  /\b(?:replace|substitute|change)\b[\s\S]+\b(?:with|by|to|for)\b[\s\S]+\b(?:in|across|throughout)\s+(?:all|every|each|the\s+(?:whole|entire))\b(?:\s+(?:of\s+)?(?:the|my|these)\b)?\s+(?:\w+\s+)?(?:files?|code(?:base)?|project|repo(?:sitory)?|workspace|folder|directory)\b/i;

export const editFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (ANYWHERE.test(mask(instruction).text)) return say("I changed nothing: I edit one file at a time. Name it.");
  if (path === undefined) return undefined;
  const lines = readLinesWith(instruction, path);
  if (lines) return removeLines(path, lines, turn);
  const removal = readRemoval(instruction, path);
  if (removal && (WHOLE.test(removal.text) || OTHERS.test(removal.text))) return undefined;
  if (removal?.isLine) return removeLine(path, removal.text, turn);
  const changes = removal ? [{ before: removal.text, after: "" }] : readChanges(instruction, path);
  const everywhere = EVERYWHERE.test(instruction);
  return changes?.flatMap((change) => editFile(path, { ...change, everywhere }, turn) ?? cannotEdit(path));
};

function cannotEdit(path: string): Step[] {
  return say(`I can't edit ${path}: no tool here edits files.`);
}

function readChanges(instruction: string, path: string): Change[] | undefined {
  const { text, reveal } = mask(withoutPlace(dropEnd(instruction), path).replace(ALL_OVER, ""));
  const [before, after] = FORMS.flatMap((form) => form.exec(text)?.slice(1, 3) ?? []);
  if (!before || !after || WHOLE.test(before)) return undefined;
  const [, first = after, second, third] = AND_ANOTHER.exec(after) ?? [];
  const pairs =
    second && third
      ? [
          [before, first],
          [second, third],
        ]
      : [[before, after]];
  return pairs.map(([old = "", now = ""]) => ({ before: unquote(reveal(old)), after: unquote(reveal(dropEnd(now))) }));
}

// "in a.txt" may stand before or after what is to be changed, and is part of neither.
export function withoutPlace(instruction: string, path: string): string {
  const file = `["'\`]?${literal(path)}["'\`]?`;
  const named = `(?:the\\s+)?(?:file\\s+)?${file}\\s*[,:]?\\s*`;
  return instruction
    .replace(
      new RegExp(
        // An "and" goes with "edit a.txt and replace", and stays where another pair follows it.
        `[,:]?\\s*\\b(?:(?:edit|open|modify|change|update)\\s+${named}(?:and\\s+|by\\s+|to\\s+|so that\\s+)?|(?:in|inside|within|of|from)\\s+${named}(?:by\\s+(?=\\w+ing\\b)|so that\\s+|(?=to\\s))?)`,
        "i",
      ),
      " ",
    )
    .replace(/\breplacing\b/i, "replace")
    .replace(/\bchanging\b/i, "change")
    .trim();
}

function readRemoval(instruction: string, path: string): { text: string; isLine: boolean } | undefined {
  const { text, reveal } = mask(instruction.slice(0, instruction.indexOf(path)));
  // Files of a folder are no text of it.
  const found = path.endsWith("/") ? undefined : REMOVAL.exec(text)?.groups;
  return found?.["text"] ? { text: unquote(reveal(found["text"])), isLine: found["line"] !== undefined } : undefined;
}

type IsGone = (line: string) => boolean;

function readLinesWith(instruction: string, path: string): IsGone | undefined {
  const { text, reveal } = mask(withoutPlace(dropEnd(instruction), path));
  const found = LINES_WITH.exec(text);
  if (!found) return undefined;
  const words = unquote(reveal(found.at(-1) ?? ""));
  if (found.groups?.["starts"]) return (line) => line.startsWith(words);
  return found.groups?.["ends"] ? (line) => line.endsWith(words) : (line) => line.includes(words);
}

function removeLines(path: string, isGone: IsGone, turn: Turn): readonly Step[] {
  const remove = (result: ToolResult): readonly Step[] => {
    const shown = readShown(result);
    const lines = shown.type === "text" ? shown.text.split("\n") : [];
    const gone = lines.flatMap((line, at) => (isGone(line) ? [at] : []));
    if (gone.length === 0) return say(`I left ${path} as it is: I found no such line in it.`);
    const kept = lines.filter((line) => !isGone(line)).join("\n");
    const [first = 0, last = 0] = [gone[0], gone.at(-1)];
    const between = lines.slice(first, last + 1).filter((line) => !isGone(line));
    // A file of nothing else is left empty; no edit can tell its only line by what is beside it.
    return kept === ""
      ? (writeFile(path, "", turn) ?? cannotEdit(path))
      : (editFile(path, changeLines(lines.join("\n"), first, last - first + 1, between), turn) ?? cannotEdit(path));
  };
  const read = readFile(path, turn, MAX_LINES);
  return read ? [...read, ...followUp(remove)] : cannotEdit(path);
}

/** A line goes with its end, for which the one beside it must be known. */
function removeLine(path: string, wanted: string, turn: Turn): readonly Step[] {
  const remove = (result: ToolResult): readonly Step[] => {
    const shown = readShown(result);
    const lines = shown.type === "text" ? shown.text.split("\n") : [];
    const at = findLine(lines, wanted);
    if (shown.type !== "text" || at === -1) return say(`I left ${path} as it is: I found no such line in it.`);
    return editFile(path, changeLines(shown.text, at, 1, []), turn) ?? cannotEdit(path);
  };
  const read = readFile(path, turn);
  return read ? [...read, ...followUp(remove)] : say(`I can't edit ${path}: no tool here reads files.`);
}

/** By its number, its place or its words. */
function findLine(lines: readonly string[], wanted: string): number {
  if (/^first\b/i.test(wanted)) return 0;
  if (/^last\b/i.test(wanted)) return lines.length - 1;
  const exact = lines.indexOf(wanted);
  if (exact !== -1) return exact;
  if (/^\d+$/.test(wanted)) return Number(wanted) <= lines.length ? Number(wanted) - 1 : -1;
  return lines.findIndex((line) => line.includes(wanted));
}
