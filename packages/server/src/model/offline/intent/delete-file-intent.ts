import { deleteFile } from "../file-tools.ts";
import { firstVerb } from "../first-verb.ts";
import { mask, POLITE } from "../phrase.ts";
import { type Intent, say } from "../step.ts";
import { findPath } from "../workspace-path.ts";
import { quoteWord, runCommand } from "./command-intent.ts";
import { isEmptied } from "./write-file-intent.ts";

const VERB = /\b(?:delet(?:e|ing)|remov(?:e|ing)|eras(?:e|ing)|get(?:ting)? rid of|trash)\b/i;
const FOLDER = /^\W*\S+\s+(?:the\s+|my\s+)?["'`]?([\w.-]+)["'`]?\s+(?:folder|directory)\b/i;
/** "the first line of notes.txt" is not notes.txt, and neither is "notes.txt's first line". */
const PART_OF = /(?<!\brid)\s(?:of|from|in|out of)\s+(?:the\s+)?(?:file\s+)?["'`]?$/i;
const PART_FOLLOWS = /^["'`”]?['’]s?\s+\p{L}/u;
/** "all files except notes.txt" is everything but notes.txt, and "all txt files in src/" is not src/. */
const SOME_OF =
  /\b(?:all|every|any|each|everything|anything|except|besides|apart from|other than|instead of|but|or)\b/i;
/** "all three files: a.txt" goes on to name them. */
const NAMED_ALL =
  /\b(?:all|both)\s+(?:of\s+)?(?:(?:the|these|my)\s+)?(?:\w+\s+)?files?\s*:?\s*(?:named\s+|called\s+)?["'`]?$/i;
const IT = /\b(?:it|that file|this file|the file)\b/i;

/** Where an order begins. "We could delete a.txt" gives none, and what is deleted is gone. */
const ORDERED = new RegExp(
  `(?:^|[,;:.!?\\n–—-]\\s*|\\b(?:and|then|but|so|also|instead|rather|just)\\s+)\\s*(?:(?:yes|yep|sure|actually|quickly|simply|first of all|let us|i think you should|do)\\s+)?${POLITE}(?:(?:i|we)(?:['’]d|\\s+would)?\\s+(?:want|need|like|love)\\s+(?:it\\s+if\\s+)?(?:you\\s+)?(?:to\\s+)?|(?:make sure|be sure|try|(?:don['’]t|do not)\\s+(?:forget|hesitate|fail)|feel free|go ahead|be so kind as|(?:can|could|wo|would)(?:n['’]t|['’]t)\\s+you|you\\s+(?:can|may|should|must|need|have|are to))\\s+(?:to\\s+|and\\s+)?)*(?:please\\s+|now\\s+|also\\s+|just\\s+)*$`,
  "i",
);
const CONDITION = /\b(?:unless|if|only\s+(?:after|when|once))\b/i;
const NO_CONDITION =
  /\bif\s+(?:(?:it|the file|that)\s+(?:exists?|is there)|it's there|you\s+(?:can|could|like|want|please|don't mind)|possible|necessary|needed)\b/i;

/** What is deleted is gone: "unless it contains hello" is not for a model that can't tell. */
function isUnderCondition(instruction: string, path: string): boolean {
  return CONDITION.test(mask(instruction.replace(path, "")).text.replace(NO_CONDITION, ""));
}

export const deleteFileIntent: Intent = (instruction, turn) => {
  if (firstVerb(instruction) !== "delete") return undefined;
  const at = VERB.exec(instruction)?.index ?? 0;
  const order = instruction.slice(at);
  if (!ORDERED.test(instruction.slice(0, at))) return undefined;
  // "Keep a.txt and delete b.txt": what stands before the verb is not what is to go, unless it is taken up again.
  const named = findPath(order) ?? FOLDER.exec(order)?.[1];
  const path = named ?? (IT.test(order) ? findPath(instruction.slice(0, at)) : undefined);
  if (path === undefined) return undefined;
  const [before = "", ...after] = order.split(path);
  if (named !== undefined && isEmptied(before)) return undefined;
  if (isOneOfSome(before, after.join(path))) return say("I deleted nothing: name each file that is to go.");
  if (named !== undefined && (PART_OF.test(before) || PART_FOLLOWS.test(after.join(path))))
    return say(`I deleted nothing: I can't tell which part of ${path} is to go.`);
  if (isUnderCondition(order, path)) return say(`I deleted nothing: I can't tell whether ${path} is to go.`);
  return (
    deleteFile(path, turn) ??
    runCommand(`rm ${quoteWord(path)}`, turn) ??
    say(`I can't delete ${path}: no tool here does that.`)
  );
};

function isOneOfSome(before: string, after: string): boolean {
  return SOME_OF.test(mask(before).text.replace(NAMED_ALL, "")) || /\bor\b/i.test(mask(after).text);
}
