import { placeLast, readContent } from "../file-content.ts";
import { readFile, writeFile } from "../file-tools.ts";
import { isMadeUp } from "../made-up.ts";
import { mask, POLITE, quotedParts, unquote } from "../phrase.ts";
import { readShown } from "../shown-file.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";
import { findPath } from "../workspace-path.ts";

const VERB =
  /\b(?:create|make|write|save|put|store|add|dump|echo(?=\s[\s\S]*\s(?:into|to)\s)|generate|produce|touch|overwrite|rewrite|fill|new file|i(?:['’]d| would)? (?:want|need|like) an? (?:\w+ )?file|give me an? (?:\w+ )?file)\b|\b(?:replace|set|change|update)\s+(?:all\s+)?(?:the\s+)?(?:whole\s+|entire\s+)?(?:contents?|text)\s+of\b|\b(?:set|change|update)\s+\S+\s+(?:to|so that it|so it)\s+(?:says?|reads?)\b|\b(?:delete|remove|erase|replace)\s+(?:all|everything|(?:the\s+)?(?:whole\s+|entire\s+|full\s+)?contents?)\b|\bshould\s+(?:contain|say|read)\b/i;
/** "Make a.txt say hello" */
const MAKE_SAY = new RegExp(
  `^(\\s*${POLITE})(?:make|have|let)\\s+(?:the\\s+)?(?:file\\s+)?(\\S+)\\s+(say|read|contain|hold)\\s+(?=\\S)`,
  "i",
);
const ELSEWHERE =
  /\b(?:todo list|folder|directory)\b|\breplace\b(?!\s+(?:all\s+)?(?:the\s+)?(?:whole\s+|entire\s+)?(?:contents?|text|everything)\s+(?:of|in))/i;
/** "if it doesn't exist": what is there is not written over. */
const IF_MISSING =
  /,?\s+(?:but\s+)?(?:only\s+)?(?:if|unless)\s+(?:it|the file|there|that file|one)\s+(?:does(?:n['’]t| not)\s+(?:already\s+|yet\s+)?exist|is(?:n['’]t| not)\s+(?:already\s+)?(?:there|one)|is\s+(?:none|missing|already there|there|one)|already exists|exists)(?:\s+(?:yet|already))?(?=[.!]?$|,?\s+(?:containing|with|saying)\b)/i;
const TOUCH = new RegExp(`^\\s*${POLITE}(?:touch|make sure)\\b`, "i");
const SAID_EMPTY = /\b(?:empty|blank|clear|wipe|nothing|overwrite|["'`“]{2})/i;
const WIPE = new RegExp(`^\\s*${POLITE}(?:empty|clear|wipe)\\b`, "i");
/** Words around a file's name that say nothing of what it holds: "could you please create a text file named a.txt". */
const SAYING_NOTHING = new Set(
  "please pls plz kindly be so kind as now just then first can could would you i want need to let's go ahead and create make touch generate produce add me us sure a an the new empty blank one file files script module document page text named called there is it exists exist if does doesn't not yet already for here and call it name".split(
    " ",
  ),
);
const EMPTIED =
  /\b(?:empty|blank)\s+(?:(?:\w+\s+)?files?\b|$)|\b(?:delete|remove|erase)\s+(?:everything|all(?:\s+(?:the\s+|of\s+the\s+)?(?:contents?|text|lines))?|(?:the\s+)?(?:whole\s+|entire\s+|full\s+)?contents?)\s+(?:of|from|in)\b/i;
const PRINTS =
  /^(?:that|which|to)\s+(?:just\s+|only\s+)?(?:prints?|outputs?|echo(?:es)?|logs?|says?)\s+(?:out\s+)?([\s\S]+?)[.!]?$/i;
const PRINTING: Readonly<Record<string, (text: string) => string>> = {
  py: (text) => `print(${JSON.stringify(text)})\n`,
  js: (text) => `console.log(${JSON.stringify(text)});\n`,
  ts: (text) => `console.log(${JSON.stringify(text)});\n`,
  mjs: (text) => `console.log(${JSON.stringify(text)});\n`,
  rb: (text) => `puts ${JSON.stringify(text)}\n`,
  sh: (text) => `echo '${text.replaceAll("'", "'\\''")}'\n`,
};

/** A file to make, with what it is to hold. Without a word about that it is empty. */
export const writeFileIntent: Intent = (said, turn) => {
  const instruction = said.replace(MAKE_SAY, "$1create $2 containing ");
  const path = findPath(instruction);
  if (path === undefined || ELSEWHERE.test(instruction)) return undefined;
  if (!VERB.test(instruction) && !WIPE.test(instruction)) return undefined;
  const content = contentFor(instruction.replace(IF_MISSING, ""), path);
  if (content === undefined)
    return say(`I can't think up what ${path} is to hold. Say for example: Create ${path} containing hello`, path);
  const write = writeFile(path, content, turn) ?? say(`I can't write ${path}: no tool here writes files.`);
  // Without a word about what it is to hold, what is there is not meant to be lost.
  const isBare = content === "" && !SAID_EMPTY.test(instruction) && !isEmptied(instruction.split(path)[0] ?? "");
  const keeps = isBare || TOUCH.test(instruction) || IF_MISSING.test(instruction);
  return keeps ? (unlessThere(path, write, turn) ?? write) : write;
};

/** Undefined: it is described rather than given, and an empty file would be a lie. */
function contentFor(instruction: string, path: string): string | undefined {
  const [before = "", ...rest] = instruction.split(path);
  if (WIPE.test(before) || isEmptied(before)) return "";
  const after = rest.join(path).replace(/^["'`”]?\s*/, "");
  const printed = PRINTS.exec(after)?.[1];
  const printing = PRINTING[path.split(".").at(-1) ?? ""];
  if (printed && printing) return printing(unquote(printed));
  const given = readContent(placeLast(instruction, path), path);
  if (given !== undefined && /^nothing$/i.test(given) && !quotedParts(instruction).includes(given)) return "";
  if (given !== undefined) return isMadeUp(given, instruction) ? undefined : given;
  return saysNothing(`${before} ${after}`) ? "" : undefined;
}

/** "everything in" a file: what is to go is what it holds, not the file. */
export function isEmptied(before: string): boolean {
  return EMPTIED.test(mask(before).text);
}

function saysNothing(words: string): boolean {
  // What kind of file or how many says nothing either: "a python file", "three files".
  const plain = words.toLowerCase().replace(/[\p{L}\p{N}]+\s+(?=(?:files?|script|module|document|page)\b)/gu, "");
  return (plain.match(/[\p{L}\p{N}']+/gu) ?? []).every((word) => SAYING_NOTHING.has(word));
}

function unlessThere(path: string, write: Step[], turn: Turn): Step[] | undefined {
  const read = readFile(path, turn);
  return (
    read && [
      ...read,
      ...followUp((result) => (readShown(result).type === "missing" ? write : say(`${path} is there already.`)), path),
    ]
  );
}
