import { deleteFile } from "../file-tools.ts";
import { firstVerb } from "../first-verb.ts";
import { mask } from "../phrase.ts";
import { type Intent, say } from "../step.ts";
import { findPath } from "../workspace-path.ts";
import { quoteWord, runCommand } from "./command-intent.ts";

const FOLDER = /^\W*(?:please\s+)?\S+\s+(?:the\s+|my\s+)?["'`]?([\w.-]+)["'`]?\s+(?:folder|directory)\b/i;
/** "the first line of notes.txt" is not notes.txt. */
const PART_OF = /(?<!\brid)\s(?:of|from|in|out of)\s+(?:the\s+)?(?:file\s+)?["'`]?$/i;
/** "all txt files in src/" is not src/. */
const SOME_OF = /\b(?:all|every|any|each|everything|files)\b.*\b(?:in|from|under|inside|of)\b/i;

const CONDITION = /\b(?:unless|if|only\s+(?:after|when|once))\b/i;
const NO_CONDITION =
  /\bif\s+(?:(?:it|the file|that)\s+(?:exists?|is there)|it's there|you\s+(?:can|could|like|want|please|don't mind)|possible|necessary|needed)\b/i;

/** What is deleted is gone: "unless it contains hello" is not for a model that can't tell. */
function isUnderCondition(instruction: string, path: string): boolean {
  return CONDITION.test(mask(instruction.replace(path, "")).text.replace(NO_CONDITION, ""));
}

export const deleteFileIntent: Intent = (instruction, turn) => {
  if (firstVerb(instruction) !== "delete") return undefined;
  const path = findPath(instruction) ?? FOLDER.exec(instruction)?.[1];
  if (path === undefined) return undefined;
  if (path.endsWith("/") && SOME_OF.test(instruction)) return say("I deleted nothing: name each file that is to go.");
  if (PART_OF.test(instruction.slice(0, instruction.indexOf(path)))) return undefined;
  if (isUnderCondition(instruction, path)) return say(`I deleted nothing: I can't tell whether ${path} is to go.`);
  return (
    deleteFile(path, turn) ??
    runCommand(`rm ${quoteWord(path)}`, turn) ??
    say(`I can't delete ${path}: no tool here does that.`)
  );
};
