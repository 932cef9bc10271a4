import { fillObject } from "../fill-object.ts";
import { findTool } from "../find-tool.ts";
import { mask } from "../phrase.ts";
import { callTool, type Intent, say } from "../step.ts";
import { findPath, toToolPath } from "../workspace-path.ts";
import { runCommand } from "./command-intent.ts";

/** The first thing that is to be done: "create a.txt containing: delete me" asks for no deletion. */
const FIRST_VERB =
  /\b(?:(delete|remove|erase|get rid of|trash)|create|make|write|save|put|store|add|append|generate|touch|read|show|open|print|display|view|list|find|search|look|what|which|who|when)\b/i;

export const deleteFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (path === undefined || !FIRST_VERB.exec(mask(instruction).text)?.[1]) return undefined;
  const tool = findTool(turn.tools, "delete");
  if (!tool)
    return (
      runCommand(`rm ${/\s/.test(path) ? `"${path}"` : path}`, turn) ??
      say(`I can't delete ${path}: no tool here does that.`)
    );
  const properties = tool.schema.properties ?? {};
  const name = Object.keys(properties).find((key) => /path|file|name/i.test(key)) ?? "file_path";
  return callTool(tool, fillObject(tool.schema, "", "", turn, { [name]: toToolPath(path, properties[name], turn) }));
};
