import { readFile } from "../file-tools.ts";
import { findLines, type LineRange } from "../line-range.ts";
import { mask } from "../phrase.ts";
import { type Intent, say } from "../step.ts";
import { findPath } from "../workspace-path.ts";
import { quoteWord, runCommand } from "./command-intent.ts";

const FORMS: readonly RegExp[] = [
  /\b(?:read(?:ing)?|open|view|display|print|cat|show|load|inspect|look at|look into|check|see|output|get|fetch|compare)\b/i,
  /\bwhat(?:['’]?s| is| does| are)\b.*\b(?:in|inside|on|say|says|contain|contains|contents?)\b/i,
  /\b(?:contents?|text|lines?) of\b/i,
  /\btell me what\b|\bwhat\b.*\bsays\b/i,
  /\b(?:summari[sz]e|explain|describe|tell me about|size of)\b/i,
  /\bhow (?:many|long|big)\b|\bdoes\b.*\b(?:contain|have|mention|include|say)\b/i,
];
const OTHER = /\b(?:create|write|save|append|edit|replace|change|delete|remove|rename|directory|folder|run|execute)\b/i;
function countOf({ first, last }: LineRange): number | undefined {
  return last < first ? undefined : last - first + 1;
}

/** What a program counts better than whoever reads. */
const COUNTED =
  /\b(?:count|how many|number of)\s+(?:all\s+)?(?:the\s+)?(?:(lines?)|(words?)|(?:bytes?|characters?))\b/i;

export const readFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (path === undefined || path.endsWith("/") || OTHER.test(instruction)) return undefined;
  const counted = COUNTED.exec(instruction);
  if (!counted && !FORMS.some((form) => form.test(instruction))) return undefined;
  const lines = findLines(mask(instruction.replace(path, "")).text);
  return (
    (counted && runCommand(`wc ${counted[1] ? "-l" : counted[2] ? "-w" : "-c"} ${quoteWord(path)}`, turn)) ??
    (lines && lines.first < 0 ? runCommand(`tail -n ${-lines.first} ${quoteWord(path)}`, turn) : undefined) ??
    readFile(path, turn, lines && lines.first > 0 ? countOf(lines) : undefined, lines && lines.first - 1) ??
    runCommand(`cat ${quoteWord(path)}`, turn) ??
    say(`I can't read ${path}: no tool here reads files.`)
  );
};
