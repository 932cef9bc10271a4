import { mask, unquote } from "../phrase.ts";
import { type Intent, say } from "../step.ts";
import { quoteWord, runCommand } from "./command-intent.ts";

const NAME = "(?:\\uE000\\d+\\uE001|[\\p{L}\\p{M}\\p{N}_@./-]+)";
const KIND = "(?:files?|folders?|director(?:y|ies))";
const NAMES = `(?:the\\s+|my\\s+)?(?:${KIND}\\s+)?(${NAME}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)${NAME})*)(?:\\s+${KIND})?`;
const TO = "(?:to|into|as|in|called|named)\\s+(?:be\\s+)?(?:called\\s+|named\\s+)?";
const FORM = new RegExp(
  `\\b(rename|move|copy|duplicate|make a copy of)\\s+(?:the\\s+contents?\\s+of\\s+)?${NAMES}\\s+${TO}${NAMES}[.!]?$`,
  "iu",
);

const PRONOUN = /^(?:it|that|this|them|one|file)$/i;

/** A file that is to have another name, or to be in another place as well. "Rename x to y in a.txt" is an edit. */
export const moveFileIntent: Intent = (instruction, turn) => {
  const { text, reveal } = mask(instruction.trim());
  const [, verb = "", from = "", to = ""] = FORM.exec(text) ?? [];
  const sources = from.split(/\s*,\s*(?:and\s+)?|\s+and\s+/).map((name) => unquote(reveal(name)));
  const target = unquote(reveal(to)).replace(/\.$/, "");
  if (PRONOUN.test(from)) return say(`I can't tell which file to ${verb.toLowerCase()}: name it.`);
  if (!target || !sources.every((source) => /[./]/.test(source + target))) return undefined;
  const program = /copy|duplicate/i.test(verb) ? "cp" : "mv";
  const command = [program, ...sources.map(quoteWord), quoteWord(target)].join(" ");
  return (
    runCommand(command, turn) ?? say(`I can't ${verb.toLowerCase()} ${sources.join(", ")}: no tool here does that.`)
  );
};
