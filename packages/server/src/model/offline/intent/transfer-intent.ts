import { readFile, writeFile } from "../file-tools.ts";
import { findTool } from "../find-tool.ts";
import { findLines, LINES, type LineRange, placeLines } from "../line-range.ts";
import { mask, POLITE, QUOTED, unquote } from "../phrase.ts";
import { readShown } from "../shown-file.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import { hasFailed, type ToolResult, type Turn } from "../turn.ts";
import { addText, MAX_LINES } from "./add-to-file-intent.ts";
import { runCommand, STARTS_PROGRAM } from "./command-intent.ts";

const NAME = `(${QUOTED}|[\\p{L}\\p{N}_@./-]+\\.[A-Za-z]\\w{0,9})`;
const VERB = `^\\s*${POLITE}(write|save|store|put|dump|append|add)\\s+`;
const TO = `\\s+(?:to|into|in|as|onto)\\s+(?:the\\s+end\\s+of\\s+)?(?:an?\\s+|the\\s+)?(?:new\\s+)?(?:file\\s+)?(?:named\\s+|called\\s+)?${NAME}[.!]?$`;
const form = (what: string) => new RegExp(`${VERB}${what}${TO}`, "iu");
const OF_FILE = form(
  `(?:the\\s+)?(?:whole\\s+|entire\\s+)?(contents?|text|${LINES})\\s+(?:of|from)\\s+(?:the\\s+)?(?:file\\s+)?${NAME}`,
);
/** "overwrite b.txt with the contents of a.txt" */
const WITH_OTHER = new RegExp(
  `^\\s*${POLITE}(?:overwrite|replace|fill|set)\\s+(?:(?:the\\s+)?(?:contents?|text)\\s+of\\s+)?(?:the\\s+)?(?:file\\s+)?${NAME}\\s+(?:with|to|by)\\s+(?:the\\s+)?(?:whole\\s+|entire\\s+)?(?:contents?|text)\\s+of\\s+(?:the\\s+)?(?:file\\s+)?${NAME}[.!]?$`,
  "iu",
);
const OF_COMMAND = form(
  "(?:the\\s+)?(?:output|results?)\\s+of\\s+(?:running\\s+|executing\\s+|the\\s+command\\s+)*(\\S[\\s\\S]*?)",
);
const OF_BEFORE = form(`(?:the|its|their|that|this)\\s+(output|results?|contents?|${LINES})`);

/** What a file holds, a command prints or the step before gave is to stand in a file. */
export const transferIntent: Intent = (instruction, turn) => {
  const { text, reveal } = mask(instruction);
  const read = (part = "") => unquote(reveal(part));
  const [, verb = "", what = "", from, to] = OF_FILE.exec(text) ?? [];
  if (from && to) return withSource(readFile(read(from), turn, MAX_LINES), keep(verb, read(to), turn, findLines(what)));
  const [, over, other] = WITH_OTHER.exec(text) ?? [];
  if (over && other) return withSource(readFile(read(other), turn, MAX_LINES), keep("write", read(over), turn));
  const [, make = "", command, into] = OF_COMMAND.exec(text) ?? [];
  if (command && into && (command !== read(command) || STARTS_PROGRAM.test(command)))
    return withSource(runCommand(read(command), turn), keep(make, read(into), turn));
  const [, order = "", before, place] = OF_BEFORE.exec(text) ?? [];
  return before && place ? keep(order, read(place), turn, findLines(before)) : undefined;
};

function withSource(source: Step[] | undefined, kept: Step[]): Step[] | undefined {
  return source && [...source, ...kept];
}

function keep(verb: string, path: string, turn: Turn, lines?: LineRange): Step[] {
  return followUp((result) => {
    const whole = textOf(result, turn);
    const text = lines && whole !== undefined ? pickLines(whole, lines) : whole;
    if (text === undefined) return say(`I left ${path} as it is: what it was to hold could not be had.`);
    if (/^(?:append|add)$/i.test(verb)) return addText(path, text, turn);
    return writeFile(path, text, turn) ?? say(`I can't write ${path}: no tool here writes files.`);
  });
}

function pickLines(text: string, range: LineRange): string | undefined {
  const lines = text.split("\n");
  const place = placeLines(range, lines.length);
  return place && lines.slice(place.at, place.at + place.length).join("\n");
}

/** What a command printed stands above a line of the tool's own. */
const ENDED = /\s*\[Command (?:succeeded|failed) with exit code -?\d+\]\s*$/;

function textOf(result: ToolResult, turn: Turn): string | undefined {
  if (result.tool === findTool(turn.tools, "read")?.name) {
    const shown = readShown(result);
    return shown.type === "text" ? shown.text : undefined;
  }
  return hasFailed(result) ? undefined : result.output.replace(ENDED, "");
}
