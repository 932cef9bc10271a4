import { posix } from "node:path";
import { readList } from "../coerce-value.ts";
import { fillObject } from "../fill-object.ts";
import { findTool } from "../find-tool.ts";
import { callTool, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";
import { findFolder, findPath, folderWord, toToolPath, workingDirectory } from "../workspace-path.ts";
import { runCommand } from "./command-intent.ts";

const FORMS: readonly RegExp[] = [
  /\b(?:list|show|display|print|enumerate|give me|tell me|name|see|get)\b.*\b(?:files?|folders?|director(?:y|ies)|contents?|entries|everything)\b.*\b(?:in|of|inside|under|at|here|there|from|director|folder|workspace|project|root)\b/i,
  /\b(?:list|show|display|enumerate)\b\s+(?:me\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+|my\s+|your\s+)?(?:files?|folders?|director(?:y|ies)|workspace)\b(?:\s+(?:and|or)\s+(?:files|folders|director(?:y|ies)))?(?:,?\s+(?:tree|contents?|recursively|please|pls))*\s*[.!?]*$/i,
  /^\W*(?:please\s+)?(?:list|show)\s+(?:me\s+)?everything\s*[.!]*$|\b(?:count|how many)\s+(?:the\s+)?files\b/i,
  /\b(?:what|which)\b.*\bfiles?\b.*\b(?:here|there|exist|have|in|are)\b/i,
  /\bwhat(?:'s| is| do you see)\s+in(?:side)?\s+(?:the|this|my|your)\s+(?:current\s+|working\s+|[\w.-]+\s+)?(?:directory|folder|dir|workspace|project)\b/i,
  /\bwhat(?:'?s| is)\s+(?:in\s+)?here\b|\b(?:directory|folder|file)\s+listing\b|\bare there (?:any )?files\b/i,
  /^\s*(?:ls|dir)\b(?!\s+(?:command|tool))/i,
  /^\W*(?:(?:please|pls|can you|could you)\s+)*(?:list|show(?:\s+me)?|open|tell me)\s+(?:the\s+|my\s+)?(?:(?:folder|directory|dir)\s+["'`]?[\w./-]+|[\w./-]+\s+(?:folder|directory|dir))["'`]?\s*[.!?]*$/i,
  /^\W*(?:please\s+)?list\s+["'`]?[\w.-]+\/?["'`]?\s*[.!?]*$/i,
  /\bwhat(?:'s| is| do(?:es)? (?:you|we) have)\s+in(?:side)?\s+["'`]?[\w.-]+\/?["'`]?\s*[.!?]*$/i,
  /\blook\b.*\b(?:around|at|in|into|inside)\b.*\b(?:director|folder|workspace)/i,
];
const ABOUT_CONTENT =
  /\b(?:contain(?:s|ing)?|matching|mention(?:s|ing)?|named|called|with the (?:word|text|name))\b|\b(?:contents?) of (?:the )?file\b/i;

const DEEP = /,?\s+recursive(?:ly)?\b|(?:\s+(?:in|and|with))*\s+(?:all|its|the)? ?sub-?(?:folders|directories)\b/i;

/** "in src and docs" */
const FOLDER = "(?:the\\s+)?[\\w./-]+(?:\\s+(?:folders?|director(?:y|ies)))?";
const SEVERAL = new RegExp(
  `\\b(?:in(?:side)?|of)\\s+((?:both\\s+)?${FOLDER}(?:,\\s*${FOLDER})*,?\\s+and\\s+(?:in\\s+)?${FOLDER})\\s*[.?!]?$`,
  "i",
);
const AROUND_NAME = /^(?:both\s+)?(?:in\s+)?(?:the\s+)?|\s+(?:folders?|director(?:y|ies))$/gi;
/** "list src" */
const BARE = /^\W*(?:please\s+)?list\s+["'`]?([\w.-]+\/?)["'`]?\s*[.!?]*$/i;

export const listFilesIntent: Intent = (instruction, turn) => {
  if (!FORMS.some((form) => form.test(instruction)) || ABOUT_CONTENT.test(instruction)) return undefined;
  const [, folders] = SEVERAL.exec(instruction) ?? [];
  if (folders) return readList(folders).flatMap((folder) => listFiles(folder.replace(AROUND_NAME, ""), turn));
  const order = instruction.replace(DEEP, "");
  const path = findPath(order) ?? findFolder(order) ?? folderWord(BARE.exec(instruction)?.[1] ?? "");
  if (path && /\w\.\w+$/.test(path) && !/\b(?:folder|directory)\b/i.test(instruction)) return undefined;
  return (DEEP.test(instruction) ? listDeep(path, turn) : undefined) ?? listFiles(path, turn);
};

/** With all that is in the folders below. */
function listDeep(path: string | undefined, { tools }: Turn): Step[] | undefined {
  const glob = findTool(tools, "glob");
  const name = Object.keys(glob?.schema.properties ?? {}).find((key) => /pattern/i.test(key));
  return glob && name ? callTool(glob, { [name]: posix.join(path ?? "", "**/*") }) : undefined;
}

export function listFiles(path: string | undefined, turn: Turn): Step[] {
  const tool = findTool(turn.tools, "list");
  if (!tool) {
    const command = path ? `ls -la ${path}` : "ls -la";
    return runCommand(command, turn) ?? say("I can't list files: no tool here does that.");
  }
  const properties = tool.schema.properties ?? {};
  const name = Object.keys(properties).find((key) => /path|dir|folder/i.test(key));
  if (!name) return callTool(tool, {});
  const where = path === undefined ? workingDirectory(turn) : toToolPath(path, properties[name], turn);
  return callTool(tool, fillObject(tool.schema, "", "", turn, { [name]: where }));
}
