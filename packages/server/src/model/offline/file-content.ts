import { NUMBER, numbersIn, readList } from "./coerce-value.ts";
import { CLOSING, dropEnd, fencedPart, literal, mask, OPENING, unquote } from "./phrase.ts";

/** Stands for the path while its sentence is read: one sign that no rule about words can cut through. */
export const PLACE = "\uE002";
const FILE =
  "(?:an?\\s+|the\\s+|my\\s+|new\\s+|text\\s+)*(?:file\\s+|\\w+\\s+(?=named|called))?(?:named\\s+|called\\s+)?";
const CONTENT =
  /\b(?:containing|that contains?|which contains?|contain|with (?:the |this |these |those |following |single |(?:two|three|four|five|\d+) )*(?:contents?|text|lines?|words?|body|items?|entries|points|bullets?|values?|things)(?=\s*:|\s*\n)|with (?:the |this |following )*(?:contents?|text|line|lines|word|words|body)|whose (?:only |sole |entire )?contents? (?:is|are)|(?:that|which|so that it|so it|to|should) (?:says?|reads?)|(?:that|which) has|saying|reading|holding|and (?:write|put) (?:in|into|to) it|and (?:the )?(?:contents?|text)|with|(?<=contents? of \uE002 )to|(?<=\bset \uE002 )to)(?![\p{L}\p{N}_])(?:\s+(?:exactly|only|just|this|the following))*\s*(?:of|is|being)?\s*([\s\S]*)$/iu;
/** "write hello to notes.txt": the content stands between the verb and the place. */
const INTO = new RegExp(
  `\\b(?:write|save|put|store|dump|echo|add|append|insert|prepend|attach|type)\\s+([\\s\\S]+?)\\s+(?:to|into|in|as|inside|onto|on)\\s+${FILE}${PLACE}`,
  "i",
);
/** "write hello and save it as notes.txt" */
const AND_KEEP_IT = /,?\s+and\s+(?:then\s+)?(?:save|store|put|write|keep)\s+(?:it|this|that|them)$/i;
const AT_PLACE = new RegExp(`\\s+(?:to|into|in|as|inside)\\s+${FILE}${PLACE}\\s*\\.?$`, "i");
const COLON = /(:\s*\n?[\s\S]+)$/;
/** "write exactly this to a.txt: …", whatever its words. */
const THIS =
  /^[^:\n]*\b(?:this|(?:the )?following)(?:\s+(?:text|lines?|sentences?|words?|contents?))?(?:\s+(?:to|into|in|as)\s+(?:\w+\s+){0,3}\uE002)?(:\s*\S[\s\S]*)$/i;
const TEXT =
  "(?:words?|numbers?|text|lines?|rows?|records?|phrase|sentence|string|contents?|entry|item|note|paragraph|bullet|comment)";
const SAYS = "(?:saying|reading|containing|with|that (?:says|reads)|which (?:says|reads))";
/** "a line saying", "the word": how a text is spoken of before it is given. */
const SPOKEN_OF = new RegExp(
  `^(?:(?:(?:the|this|another|one more|following)\\s+)+(?:single\\s+|new\\s+)?${TEXT}(?:\\s+${SAYS})?(?:\\s*:\\s*|\\s+|$)|${TEXT}(?:\\s*:\\s*|\\s+)(?=\\S))` +
    `|^an?\\s+(?:new\\s+|single\\s+)?${TEXT}(?:\\s+${SAYS}\\s+|\\s*:\\s*|\\s+(?=\uE000|#|//)|$)` +
    `|^an?\\s+(?:new\\s+)?line\\s+(?!of\\b|about\\b|for\\b|that\\b)`,
  "i",
);
/** Words after a quoted text that say nothing about it. */
const AFTER_QUOTE =
  /(?<=\uE001)\s*(?:inside|in it|in there|on it|please|as (?:its |the |an? )?(?:new |last |first )?(?:content|text|bullet(?: point)?|line|item|entry))?\s*[.!?]?$/i;

/** "with the title x named a.md": the name is the file's. */
const OF_THIS_NAME = new RegExp(`,?\\s+(?:named|called)\\s+${PLACE}$`);
/** "my message "hi"", "the JSON {…}": what is given is what follows. */
const INTRODUCED =
  /^(?:the|my|this|our|an?)\s+(?:(?!(?:is|are|was|were|of|and)\b)[\p{L}-]+\s+){1,2}(?=\uE000\d+\uE001[.!]?$)/iu;
const QUOTED_START = new RegExp(`^[${OPENING}]`);
const AFTER_CLOSING = new RegExp(`(?<=[${CLOSING}])[.!?]$`);
/** Said of the content, and no part of it: that it is all there is, or how it is to be taken. */
const ASIDE =
  /\s*(?:,?\s+(?:and|but|with)(?: absolutely)?\s+|,\s*)nothing (?:else|more)(?: (?:in|inside) (?:it|the file))?\s*[.!]?$|(?<=\uE001),?\s+(?:and\s+)?(?:with\s+)?(?:no|without(?:\s+an?y?)?)\s+(?:\w+\s+){0,2}(?:quotes|quotation marks|newlines?|line breaks?)\b[^,]*$|\s*\((?:without|no|and no|with no)[^()]*\b(?:quotes|quotation marks|newlines?|line breaks?|anything else|nothing else)\)\s*[.!]?$/i;

/** "In a.txt, write x" and "edit a.txt and add x" say the same as "write x to a.txt". */
export function placeLast(instruction: string, path: string): string {
  const file = `["'\`]?${literal(path)}["'\`]?`;
  return instruction.replace(
    new RegExp(
      `^(.*?)\\b(?:in|into|to|edit|open|update|modify|change)\\s+(?:the\\s+)?(?:file\\s+)?${file}\\s*[,:]?\\s*(?:and\\s+|by\\s+)?((?:add|append|insert|put|prepend|write)(?:t?ing)?)\\s+([\\s\\S]+?)[.!]?$`,
      "i",
    ),
    (_, before, verb, rest) => `${before}${verb.replace(/t?ing$/, "")} ${rest} to ${path}`,
  );
}

/** What a file is to hold: what a sentence says of the file at `path`. Undefined where it says nothing of that. */
export function readContent(said: string, path: string | undefined): string | undefined {
  if (path === undefined) return findClean(said, said);
  const instruction = hidePlace(said, path);
  return findClean(instruction, instruction.slice(instruction.indexOf(PLACE) + 1))?.replaceAll(PLACE, path);
}

export function hidePlace(said: string, path: string): string {
  const spelled = new RegExp(
    `(?<![\\p{L}\\p{N}_./-])[${OPENING}]?${literal(path)}[${CLOSING}]?(?![\\p{L}\\p{N}_/])`,
    "u",
  );
  // In quotes it may be part of what is to be written.
  const { text, reveal } = mask(said);
  return spelled.test(text) ? reveal(text.replace(spelled, PLACE)) : said.replace(spelled, PLACE);
}

/** "… on separate lines", "…, one per line": how a list is to be written. */
const APART =
  /,?\s+(?:all\s+|each\s+(?:one\s+)?|every one\s+)?(?:(?:on|in)\s+(?:(?:its|their|a)\s+)?(?:(?:separate|different|individual|own|new)\s+)+lines?|one\s+(?:\w+\s+)?(?:per|on each|for each|in each|to a)\s+line)(?=\s*[.!]?$|,?\s+(?:to|into|in)\s)/i;

function findClean(instruction: string, afterPlace: string): string | undefined {
  const { text, reveal } = mask(instruction);
  if (!APART.test(text)) return findWhole(instruction, afterPlace);
  const after = mask(afterPlace);
  const list = findWhole(reveal(text.replace(APART, "")), after.reveal(after.text.replace(APART, "")));
  return list && readList(list).join("\n");
}

/** "the word "hello" five times" */
const TIMES = new RegExp(
  `^(?:the\\s+(?:word|text|line)\\s+)?(\\uE000\\d+\\uE001)\\s+(?:(${NUMBER})\\s+times|twice)$`,
  "i",
);

function repeated(said: string): string | undefined {
  const { text, reveal } = mask(said.trim());
  const [, part, count] = TIMES.exec(text) ?? [];
  if (part === undefined) return undefined;
  return Array.from({ length: count === undefined ? 2 : (numbersIn(count)[0] ?? 1) }, () => unquote(reveal(part))).join(
    " ",
  );
}

function findWhole(instruction: string, afterPlace: string): string | undefined {
  // Whatever is said around it: "write the following to a.sql", "save this code as a.py".
  const fenced = fencedPart(instruction);
  if (fenced !== undefined) return fenced;
  const lines = findLines(afterPlace);
  if (lines !== undefined) return lines;
  const found = findContent(instruction, afterPlace);
  return found === undefined ? undefined : (repeated(found) ?? clean(found));
}

/** "with two lines: foo and bar": as many as were said, one below the other. */
const LISTED_LINES = new RegExp(
  `\\b(?:with|contain(?:s|ing)|has|of)\\s+(?:exactly\\s+|the\\s+|these\\s+|following\\s+)*(?:(${NUMBER})\\s+lines?|lines)\\s*[:,-]?\\s+(?!\\n)([^\\n]+)$`,
  "i",
);

function findLines(afterPlace: string): string | undefined {
  const { text, reveal } = mask(dropEnd(afterPlace));
  const [, count = "", list = ""] = LISTED_LINES.exec(text) ?? [];
  const lines = readList(list).map((line) => unquote(reveal(line)));
  return lines.length > 1 && (!count || lines.length === numbersIn(count)[0]) ? lines.join("\n") : undefined;
}

function findContent(instruction: string, afterPlace: string): string | undefined {
  const after = THIS.exec(instruction)?.[1] ?? CONTENT.exec(afterPlace)?.[1] ?? COLON.exec(afterPlace)?.[1];
  if (after !== undefined) return after;
  const between = INTO.exec(dropEnd(instruction))?.[1]?.replace(AND_KEEP_IT, "");
  if (between !== undefined && !/^(?:a|the|an)\s+(?:new\s+)?file$/i.test(between)) return between;
  // "containing hello in notes.txt": the place is not part of the content.
  return CONTENT.exec(instruction)?.[1]?.replace(AT_PLACE, "");
}

function clean(said: string): string {
  // After a colon stands the content itself, whatever its words.
  if (/^\s*:/.test(said)) return plain(said.replace(/^\s*:\s*/, ""));
  const { text, reveal } = mask(said.replace(/^\s*(?:exactly|only|just|simply)\s+/i, ""));
  return plain(
    reveal(
      text
        .replace(ASIDE, "")
        .replace(OF_THIS_NAME, "")
        .replace(INTRODUCED, "")
        .replace(SPOKEN_OF, "")
        .replace(AFTER_QUOTE, "")
        .replace(/,\s*please[.!]?$|\s+in(?:side)? it[.!]?$/i, ""),
    ),
  );
}

function plain(text: string): string {
  return QUOTED_START.test(text.trim()) || text.includes("\n")
    ? unquote(text.trim().replace(AFTER_CLOSING, ""))
    : // Of several sentences the last one ends like the others.
      /[.!?]\s/.test(text.trim())
      ? text.trim()
      : dropEnd(text);
}
