import { fillObject } from "./fill-object.ts";
import { findTool, type ToolUse } from "./find-tool.ts";
import type { OfflineTool } from "./offline-tool.ts";
import { callTool, type Step } from "./step.ts";
import type { Turn } from "./turn.ts";
import { toToolPath } from "./workspace-path.ts";

/** The calls of the tools for files, whatever those and their parameters are called; undefined where there is no such tool. */
export function readFile(path: string, turn: Turn, lines?: number, skipped = 0): Step[] | undefined {
  return callFileTool("read", path, turn, (named) => {
    const offset = skipped > 0 ? named(/^(offset|skip)$/i) : undefined;
    const limit = lines === undefined ? undefined : named(/^(limit|max_?lines|lines)$/i);
    return { ...(offset && { [offset]: skipped }), ...(limit && { [limit]: lines }) };
  });
}

export function writeFile(path: string, content: string, turn: Turn): Step[] | undefined {
  return callFileTool("write", path, turn, (named) => ({ [named(/content|text|data|body/i) ?? "content"]: content }));
}

/** A text that is to stand in a file in the place of another. */
export interface Change {
  readonly before: string;
  readonly after: string;
  readonly everywhere?: boolean;
}

export function editFile(path: string, { before, after, everywhere }: Change, turn: Turn): Step[] | undefined {
  return callFileTool("edit", path, turn, (named) => {
    const all = everywhere ? named(/all|global/i) : undefined;
    return {
      [named(/old|search|find|from|target/i) ?? "old_string"]: before,
      [named(/new|replacement|replace_with|^to$/i) ?? "new_string"]: after,
      ...(all && { [all]: true }),
    };
  });
}

export function deleteFile(path: string, turn: Turn): Step[] | undefined {
  return callFileTool("delete", path, turn, () => ({}));
}

type NamedParameter = (pattern: RegExp) => string | undefined;

function callFileTool(
  use: ToolUse,
  path: string,
  turn: Turn,
  more: (named: NamedParameter) => Record<string, unknown>,
): Step[] | undefined {
  const tool = findTool(turn.tools, use);
  if (!tool) return undefined;
  const properties = tool.schema.properties ?? {};
  const place = placeParameter(tool);
  const named: NamedParameter = (pattern) =>
    Object.keys(properties).find((name) => name !== place && pattern.test(name));
  const given = { [place]: toToolPath(path, properties[place], turn), ...more(named) };
  return callTool(tool, fillObject(tool.schema, "", "", turn, given));
}

function placeParameter({ schema }: OfflineTool): string {
  return Object.keys(schema.properties ?? {}).find((name) => /path|file|name/i.test(name)) ?? "file_path";
}
