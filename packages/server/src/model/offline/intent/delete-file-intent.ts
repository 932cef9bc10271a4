import { deleteFile } from "../file-tools.ts";
import { firstVerb } from "../first-verb.ts";
import { type Intent, say } from "../step.ts";
import { findPath } from "../workspace-path.ts";
import { quoteWord, runCommand } from "./command-intent.ts";

const FOLDER = /^\W*(?:please\s+)?\S+\s+(?:the\s+|my\s+)?["'`]?([\w.-]+)["'`]?\s+(?:folder|directory)\b/i;
/** "all txt files in src/" is not src/. */
const SOME_OF = /\b(?:all|every|any|each|everything|files)\b.*\b(?:in|from|under|inside|of)\b/i;

export const deleteFileIntent: Intent = (instruction, turn) => {
  if (firstVerb(instruction) !== "delete") return undefined;
  const path = findPath(instruction) ?? FOLDER.exec(instruction)?.[1];
  if (path === undefined) return undefined;
  if (SOME_OF.test(instruction)) return say("I deleted nothing: name each file that is to go.");
  return (
    deleteFile(path, turn) ??
    runCommand(`rm ${quoteWord(path)}`, turn) ??
    say(`I can't delete ${path}: no tool here does that.`)
  );
};
