import { firstVerb } from "../first-verb.ts";
import { type Intent, say } from "../step.ts";
import { findFolder, findPath } from "../workspace-path.ts";
import { quoteWord, runCommand } from "./command-intent.ts";

export const makeFolderIntent: Intent = (instruction, turn) => {
  if (firstVerb(instruction) !== "write" || !/\b(?:folder|directory)\b/i.test(instruction)) return undefined;
  const path = findPath(instruction) ?? findFolder(instruction);
  if (path === undefined || /\w\.\w+$/.test(path)) return undefined;
  return (
    runCommand(`mkdir -p ${quoteWord(path)}`, turn) ?? say(`I can't make the folder ${path}: no tool here does that.`)
  );
};
