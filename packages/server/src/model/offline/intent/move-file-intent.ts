import { mask, unquote } from "../phrase.ts";
import { type Intent, say } from "../step.ts";
import { quoteWord, runCommand } from "./command-intent.ts";

const NAME = "(\\uE000\\d+\\uE001|[\\p{L}\\p{M}\\p{N}_@./-]+)";
const FORM = new RegExp(
  `\\b(rename|move|copy|duplicate)\\s+(?:the\\s+|my\\s+)?(?:file\\s+|folder\\s+|directory\\s+)?${NAME}(?:\\s+(?:file|folder|directory))?\\s+(?:to|into|as|in)\\s+(?:be\\s+)?(?:called\\s+|named\\s+)?(?:the\\s+)?(?:file\\s+|folder\\s+|directory\\s+)?${NAME}(?:\\s+(?:file|folder|directory))?[.!]?$`,
  "iu",
);
const COMMANDS: Readonly<Record<string, string>> = { rename: "mv", move: "mv", copy: "cp", duplicate: "cp" };

/** A file that is to have another name, or to be in another place as well. "Rename x to y in a.txt" is an edit. */
export const moveFileIntent: Intent = (instruction, turn) => {
  const { text, reveal } = mask(instruction.trim());
  const [, verb = "", from, to] = FORM.exec(text) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const [source, target] = [from, to].map((name) => unquote(reveal(name)).replace(/\.$/, ""));
  if (!source || !target || !/[./]/.test(source + target)) return undefined;
  const command = `${COMMANDS[verb.toLowerCase()]} ${quoteWord(source)} ${quoteWord(target)}`;
  return runCommand(command, turn) ?? say(`I can't ${verb.toLowerCase()} ${source}: no tool here does that.`);
};
