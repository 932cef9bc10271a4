import { fillObject } from "../fill-object.ts";
import { findTool } from "../find-tool.ts";
import { callTool, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";
import { findPath, toToolPath } from "../workspace-path.ts";
import { runCommand } from "./command-intent.ts";

const FORMS: readonly RegExp[] = [
  /\b(?:read|open|view|display|print|cat|show|load|inspect|look at|look into|check|see|output|get|fetch)\b/i,
  /\bwhat(?:'s| is| does| are)\b.*\b(?:in|inside|say|says|contain|contains|contents?)\b/i,
  /\b(?:contents?|text) of\b/i,
  /\btell me what\b/i,
  /\bsummari[sz]e\b/i,
];
const OTHER = /\b(?:create|write|save|append|edit|replace|change|delete|remove|rename|directory|folder|run|execute)\b/i;

export const readFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (path === undefined || path.endsWith("/") || OTHER.test(instruction)) return undefined;
  if (!FORMS.some((form) => form.test(instruction))) return undefined;
  return (
    readFile(path, turn) ?? runCommand(`cat ${path}`, turn) ?? say(`I can't read ${path}: no tool here reads files.`)
  );
};

export function readFile(path: string, turn: Turn): Step[] | undefined {
  const tool = findTool(turn.tools, "read");
  if (!tool) return undefined;
  const properties = tool.schema.properties ?? {};
  const name = Object.keys(properties).find((key) => /path|file|name/i.test(key)) ?? "file_path";
  return callTool(tool, fillObject(tool.schema, "", "", turn, { [name]: toToolPath(path, properties[name], turn) }));
}
