import { fillObject } from "../fill-object.ts";
import { findTool } from "../find-tool.ts";
import { callTool, type Intent, say } from "../step.ts";
import { findPath, toToolPath } from "../workspace-path.ts";
import { runCommand } from "./command-intent.ts";

export const deleteFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (path === undefined || !/\b(?:delete|remove|erase|get rid of|trash)\b/i.test(instruction)) return undefined;
  const tool = findTool(turn.tools, "delete");
  if (!tool) return runCommand(`rm ${path}`, turn) ?? say(`I can't delete ${path}: no tool here does that.`);
  const properties = tool.schema.properties ?? {};
  const name = Object.keys(properties).find((key) => /path|file|name/i.test(key)) ?? "file_path";
  return callTool(tool, fillObject(tool.schema, "", "", turn, { [name]: toToolPath(path, properties[name], turn) }));
};
