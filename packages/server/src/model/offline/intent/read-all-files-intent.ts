import { readFile } from "../file-tools.ts";
import { POLITE } from "../phrase.ts";
import { followUp, type Intent } from "../step.ts";
import { hasFailed, type ToolResult } from "../turn.ts";
import { findFolder, findPath } from "../workspace-path.ts";
import { listFiles } from "./list-files-intent.ts";

const ALL = new RegExp(
  `^\\s*${POLITE}(?:read|cat|summari[sz]e)\\s+(?:me\\s+)?(?:(?:all|each|every)\\s+(?:one\\s+)?(?:of\\s+)?(?:the\\s+)?files?|the\\s+files)\\b(?!\\s+(?:named|called|matching|containing|with|that))`,
  "i",
);
/** What a list of files shows of one; a folder ends with a slash. */
const ENTRY = /^(\/.*[^/])(?: \(\d+ bytes\))$/;
const MAX_FILES = 10;

/** "Read every file in src": which those are is seen when they are listed. */
export const readAllFilesIntent: Intent = (instruction, turn) => {
  if (!ALL.test(instruction) || !readFile("a", turn)) return undefined;
  const folder = findPath(instruction) ?? findFolder(instruction);
  if (folder !== undefined && /\w\.\w+$/.test(folder)) return undefined;
  const readAll = (listed: ToolResult) => filesOf(listed).flatMap((path) => readFile(path, turn) ?? []);
  return [...listFiles(folder, turn), ...followUp(readAll)];
};

function filesOf(listed: ToolResult): string[] {
  if (hasFailed(listed)) return [];
  return listed.output
    .split("\n")
    .flatMap((line) => ENTRY.exec(line)?.[1] ?? [])
    .slice(0, MAX_FILES);
}
