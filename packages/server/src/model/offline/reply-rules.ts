import { numbersIn } from "./coerce-value.ts";
import { mask, unquote } from "./phrase.ts";
import { asksForShape, shape } from "./reply-shape.ts";
import { IMPERATIVE } from "./split-instructions.ts";
import type { Turn } from "./turn.ts";

const EVERY =
  "(?:(?:every|each|all|any|your|the|all your|all of your|every one of your|each of your|every single)\\s+)+";
const REPLY = "(?:repl(?:y|ies)|answers?|responses?|messages?|sentences?|outputs?)";
const REPLIES = `(?:${EVERY}${REPLY}|(?:replies|answers|responses|messages))`;
const STARTS = [
  new RegExp(`\\b(?:start|begin|prefix|open|preface)\\s+${REPLIES}\\s+(?:with|by saying|by)\\s+`, "i"),
  new RegExp(
    `\\b${REPLIES}\\s+(?:must|should|has to|have to|needs? to|shall|will)?\\s*(?:always\\s+)?(?:starts?|begins?)\\s+with\\s+`,
    "i",
  ),
  /\balways\s+(?:start|begin)\s+(?:(?:your|every|each|all)\s+)*(?:repl(?:y|ies)|answers?|responses?|messages?)?\s*(?:with|by saying)\s+/i,
];
const ENDS = [
  new RegExp(
    `\\b(?:(?:end|finish|close|conclude|sign)\\s+(?:off\\s+)?${REPLIES}|sign\\s+off)\\s+(?:with|by saying|by)\\s+`,
    "i",
  ),
  new RegExp(
    `\\b${REPLIES}\\s+(?:must|should|has to|have to|needs? to|shall|will)?\\s*(?:always\\s+)?(?:ends?|finish(?:es)?)\\s+with\\s+`,
    "i",
  ),
  /\balways\s+(?:end|finish|close)\s+(?:(?:your|every|each|all)\s+)*(?:repl(?:y|ies)|answers?|responses?|messages?)?\s*(?:with|by saying)\s+/i,
];
const ONLY = [
  /\b(?:answer|reply|respond)\s+(?:always\s+)?(?:only|exclusively|solely)\s+(?:with|by saying)\s+/i,
  /\b(?:only|always only|always)\s+(?:answer|reply|respond)\s+(?:only\s+)?with\s+/i,
  /\b(?:answer|reply|respond)\s+(?:to\s+(?:everything|every\s+\w+|all\s+\w+)\s+)(?:only\s+)?with\s+/i,
  /\bwhatever\s+(?:the user|i|they|anyone)\s+(?:says?|asks?),?\s+(?:answer|reply|respond|say)\s+(?:only\s+)?(?:with\s+)?/i,
];
const SPEAK = "(?:reply|answer|respond|write|speak|talk|repl(?:y|ies)|answers)[^.\\n]{0,40}?";
const UPPER = new RegExp(
  `\\b${SPEAK}\\b(?:in\\s+)?(?:all\\s+)?(?:upper[\\s-]?case|capitals|capital letters|caps|all[\\s-]caps|caps lock)\\b`,
  "i",
);
const LOWER = new RegExp(`\\b${SPEAK}\\b(?:in\\s+)?(?:all\\s+)?(?:lower[\\s-]?case|small letters)\\b`, "i");

// A long conversation has few such wishes: most of it is passed over by two quick looks.
const HINTS = [
  /\b(?:every|each|all|always|only|whatever|your|in|replies|answers|responses|sign)\b/i,
  /\b(?:with|say|saying|\w*case|\w*caps|letters|capitals)\b/i,
];
const MAX_SOURCE = 30_000;

/** Makes the final text obey what the system prompt, or the user earlier on, asked of every reply. */
export function applyReplyRules(text: string, { system, earlier, request }: Turn): string {
  // What was said later wins; a wish in the present message is one for this reply too.
  const sources = [request, ...[...earlier].reverse(), system]
    .map((source) => plainRule(source.slice(0, MAX_SOURCE)))
    .filter((source) => HINTS.every((hint) => hint.test(source)) || asksForShape(source));
  const find = (forms: readonly RegExp[]) =>
    sources.map((source) => readRule(source, forms)).find((value) => value !== undefined);
  const only = find(ONLY);
  const cased = changeCase(only ?? shape(text, sources), sources);
  if (only !== undefined) return cased;
  const start = find(STARTS);
  const end = find(ENDS);
  const opened =
    start === undefined || cased.startsWith(start) ? cased : `${start}${/[\s]$/.test(start) ? "" : " "}${cased}`;
  if (end === undefined || opened.endsWith(end)) return opened;
  return /^[.?!]+$/.test(end) ? `${opened.replace(/[.!?]$/, "")}${end}` : `${opened} ${end}`;
}

/** "From now on end your replies with ARR" asks for nothing else. */
export function isReplyRule(said: string): boolean {
  const instruction = plainRule(said);
  if (!/\b(?:from now on|always|every|each|all (?:your|of your)|whenever)\b/i.test(instruction)) return false;
  const isTold = [STARTS, ENDS, ONLY].some((forms) => readRule(instruction, forms) !== undefined);
  return isTold || UPPER.test(instruction) || LOWER.test(instruction) || asksForShape(instruction);
}

function changeCase(text: string, sources: readonly string[]): string {
  if (sources.some((source) => UPPER.test(source))) return text.toUpperCase();
  return sources.some((source) => LOWER.test(source)) ? text.toLowerCase() : text;
}

function readRule(source: string, forms: readonly RegExp[]): string | undefined {
  const { text, reveal } = mask(source);
  for (const form of forms) {
    const found = form.exec(text);
    if (found && !NEGATED.test(text.slice(0, found.index)))
      return readValue(text.slice(found.index + found[0].length), reveal);
  }
  return undefined;
}

/** "Add -- Bot to the end of every reply" says the same as "end every reply with -- Bot". */
const PUT_AT = new RegExp(
  `\\b(?:add|put|append|prepend|place|include|write)\\s+(\\S[^.\\n]{0,80}?)\\s+(?:at|to|on|in)\\s+the\\s+(?:very\\s+)?(?:(end|bottom)|start|beginning|front|top)\\s+of\\s+(${REPLIES})`,
  "gi",
);
const SPELLED =
  /(?<=\bwith\s+)((?:the\s+)?(?:words?|phrase|text)\s+\S+(?:\s+\S+){0,3}?)\s+in\s+(?:all\s+)?(?:upper[\s-]?case|capitals|capital letters|caps|lower[\s-]?case)\b/gi;

/** In the words that the forms know. How a word is to be written that is written so already says nothing more. */
function plainRule(source: string): string {
  return source
    .replace(
      PUT_AT,
      (_, what: string, end: string | undefined, replies: string) => `${end ? "end" : "start"} ${replies} with ${what}`,
    )
    .replace(SPELLED, "$1");
}

const NEGATED = /\b(?:do not|don['’]t|never|not)\s+(?:ever\s+|always\s+)?$/i;
/** What a sign is called. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/^question marks?$/i, "?"],
  [/^exclamation (?:mark|point)s?$/i, "!"],
  [/^(?:full stops?|periods?)$/i, "."],
];

/** "a question mark", "three exclamation marks" */
function readSigns(words: string): string | undefined {
  const [, count = "", name = ""] = /^(\S+)\s+(.+)$/.exec(words) ?? [];
  const sign = SIGNS.find(([said]) => said.test(name))?.[1];
  return sign?.repeat(/^an?$/i.test(count) ? 1 : (numbersIn(count)[0] ?? 1));
}

/** Words that stand for something else, which is not known here. */
const DESCRIBED =
  /^(?:the|my|your)\s+(?:user['’]s\s+)?(?:own\s+)?name(?:\s+of\b.*)?$|^(?:JSON|YAML|Markdown|XML|code)$/i;
const NEXT = new RegExp(
  `\\n|\\.\\s|\\.$|[,;]\\s|\\s+and\\s+(?:${IMPERATIVE}|end|finish|close|start|begin|always|never|then|must|should|may|do|don['’]?t|avoid|sign|be|keep)\\b`,
  "i",
);

function readValue(after: string, reveal: (part: string) => string): string | undefined {
  const plain = after.replace(
    /^(?:exactly\s+)?(?:the\s+|a\s+)?(?:words?|text|phrase|letters?|string|line|prefix|emoji|token)\s*:?\s+(?=\S)/i,
    "",
  );
  const hidden = /^\s*\uE000\d+\uE001/.exec(plain);
  const words = hidden?.[0] ?? plain.split(NEXT)[0] ?? "";
  if (DESCRIBED.test(words.trim())) return undefined;
  return readSigns(words.trim()) ?? (unquote(reveal(words)) || undefined);
}
