import { readFile } from "../file-tools.ts";
import { findLines, type LineRange } from "../line-range.ts";
import { mask } from "../phrase.ts";
import { readShown } from "../shown-file.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";
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

const SIZE = /\bhow\s+(?:big|large)\b|\bsize\s+of\b/i;
/** "the readme" */
const SPOKEN = /\b(?:the|your|our|my)\s+(readme|license|changelog)\b(?!\s*[.\w])/i;

/** What is mostly spoken of without its ending has one in most folders. */
function readDocument(path: string, turn: Turn): readonly Step[] | undefined {
  const read = /^(?:README|LICENSE|CHANGELOG)$/.test(path) ? readFile(path, turn) : undefined;
  return (
    read && [
      ...read,
      ...followUp((result) => (readShown(result).type === "missing" ? (readFile(`${path}.md`, turn) ?? []) : [])),
    ]
  );
}

export const readFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction) ?? SPOKEN.exec(instruction)?.[1]?.toUpperCase();
  return path !== undefined && asksToRead(instruction, path) ? readSteps(instruction, path, turn) : undefined;
};

function asksToRead(instruction: string, path: string): boolean {
  // A page is for another tool.
  if (path.endsWith("/") || OTHER.test(instruction) || /\bhttps?:\/\//i.test(instruction)) return false;
  const isOnlyName = instruction.trim().replace(/[?!]$/, "") === path && /^\w.*\.[A-Za-z]\w*$/.test(path);
  return isOnlyName || COUNTED.test(instruction) || FORMS.some((form) => form.test(instruction));
}

function readSteps(instruction: string, path: string, turn: Turn): readonly Step[] {
  const counted = COUNTED.exec(instruction) ?? SIZE.exec(instruction);
  const lines = findLines(mask(instruction.replace(path, "")).text);
  return (
    (counted && runCommand(`wc ${counted[1] ? "-l" : counted[2] ? "-w" : "-c"} ${quoteWord(path)}`, turn)) ??
    (lines && lines.first < 0 ? runCommand(`tail -n ${-lines.first} ${quoteWord(path)}`, turn) : undefined) ??
    (lines ? undefined : readDocument(path, turn)) ??
    readFile(path, turn, lines && lines.first > 0 ? countOf(lines) : undefined, lines && lines.first - 1) ??
    runCommand(`cat ${quoteWord(path)}`, turn) ??
    say(`I can't read ${path}: no tool here reads files.`)
  );
}
