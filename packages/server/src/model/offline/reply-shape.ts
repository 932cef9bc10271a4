import { NUMBER, numbersIn } from "./coerce-value.ts";
import { literal, mask, parseObject, unquote } from "./phrase.ts";

const WORDS = [
  new RegExp(
    `\\b(at most|no more than|(?:a )?max(?:imum)?(?: of)?|up to|not more than|under|fewer than|less than|below)\\s+(${NUMBER})\\s+words?\\b`,
    "i",
  ),
  new RegExp(
    `()\\b(?:in|with|using)\\s+(?:exactly\\s+|only\\s+|just\\s+)?(?:a\\s+)?(${NUMBER}|single)\\s+words?(?!\\s*[:"'\uE000]|\\s+[\\p{L}\\p{N}"']+\\s*[.!]?$)`,
    "iu",
  ),
  /()\b(one)[- ]word\s+(?:answers?|repl(?:y|ies)|responses?)\b/i,
  new RegExp(`()\\b(${NUMBER})\\s+words?\\s+(?:or (?:less|fewer)|at (?:the )?most|max(?:imum)?)\\b`, "i"),
];
const OF_REPLIES = /\b(?:answers?|repl(?:y|ies)|respon[ds]e?s?|use|keep|speak|write|talk|say|be brief)\b/i;
const JSON_ONLY =
  /\b(?:answer|reply|respond|output|write|speak)\b[^.\n]{0,40}\b(?:in|with|as)\s+(?:valid\s+|plain\s+|a\s+)?JSON\b/i;
const UNSAID =
  /\b(?:never|(?:do|must|may|should|can)\s*(?:not|n['’]t))\s+(?:ever\s+)?(?:use|say|write|mention|utter|contain|include)\s+the\s+(?:word|phrase|term)s?\s+(\uE000\d+\uE001|[\p{L}\p{N}'-]+)/iu;
const NAME = "(\\uE000\\d+\\uE001|\\p{Lu}[\\p{L}'-]*(?:\\s\\p{Lu}[\\p{L}'-]*)*)";
/** A name is told by its capital, so that case counts. */
const CALL_ME = new RegExp(
  "\\b(?:[Aa]lways\\s+(?:call|address)\\s+(?:me|the user)|[Cc]all\\s+(?:me|the user)(?=[^.\\n]{1,40}\\b(?:from now on|always|in every|in each))|[Aa]ddress\\s+(?:me|the\\s+user))\\s+(?:as\\s+|by\\s+)?" +
    NAME,
  "u",
);

/** Makes a text as short, as formed and as polite as the sources ask for, the first of them that does. */
export function shape(text: string, sources: readonly string[]): string {
  const named = withName(text, first(sources, CALL_ME));
  const allowed = without(named, first(sources, UNSAID));
  const short = shorten(
    allowed,
    sources.map(mostWords).find((count) => count !== undefined),
  );
  const isJson = sources.some((source) => JSON_ONLY.test(source)) && parseObject(text) === undefined;
  return isJson ? JSON.stringify({ reply: short }) : short;
}

/** Whether a text asks for all answers to be of some shape. */
export function asksForShape(text: string): boolean {
  return [JSON_ONLY, UNSAID, CALL_ME].some((form) => form.test(mask(text).text)) || mostWords(text) !== undefined;
}

function first(sources: readonly string[], form: RegExp): string | undefined {
  return sources
    .map((source) => {
      const { text, reveal } = mask(source);
      const value = form.exec(text)?.[1];
      return value === undefined ? undefined : unquote(reveal(value));
    })
    .find((value) => value !== undefined);
}

function withName(text: string, name: string | undefined): string {
  return name === undefined || text.includes(name) ? text : `${name}, ${text}`;
}

function without(text: string, word: string | undefined): string {
  if (!word) return text;
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])${literal(word)}(?![\\p{L}\\p{N}])`, "giu");
  return text.replace(whole, "…");
}

function mostWords(source: string): number | undefined {
  const sentence = source
    .split(/(?<=[.!?])\s+|\n/)
    .find((part) => WORDS.some((form) => form.test(part)) && OF_REPLIES.test(part));
  const [, bound = "", said = ""] =
    WORDS.map((form) => form.exec(sentence ?? "")).find((found) => found !== null) ?? [];
  const [count] = /^single$/i.test(said) ? [1] : numbersIn(said);
  if (count === undefined || count < 1) return undefined;
  return /under|fewer|less|below/i.test(bound) ? count - 1 : count;
}

function shorten(text: string, most: number | undefined): string {
  const words = text.match(/\s*\S+/g) ?? [];
  return most === undefined || words.length <= most ? text : words.slice(0, most).join("");
}
