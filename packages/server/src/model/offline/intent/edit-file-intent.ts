import { fillObject } from "../fill-object.ts";
import { findTool } from "../find-tool.ts";
import { dropEnd, literal, mask, unquote } from "../phrase.ts";
import { callTool, type Intent, say } from "../step.ts";
import { findPath, toToolPath } from "../workspace-path.ts";

const FORMS: readonly RegExp[] = [
  /\b(?:replace|substitute|swap)\s+(?:all\s+|every\s+|each\s+)?(?:the\s+)?(?:occurrences?\s+of\s+|instances?\s+of\s+|words?\s+|text\s+|string\s+)*([\s\S]+?)\s+(?:with|by|for)\s+(?:the\s+)?(?:word\s+|text\s+)?([\s\S]+)$/i,
  /\b(?:change|turn|rename|convert|edit|update)\s+(?:all\s+|every\s+)?(?:the\s+)?(?:words?\s+|text\s+)?([\s\S]+?)\s+(?:to|into)\s+([\s\S]+)$/i,
];
const EVERYWHERE = /\b(?:all|every|each|everywhere|throughout)\b/i;

export const editFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  const change = path === undefined ? undefined : readChange(instruction, path);
  if (path === undefined || !change) return undefined;
  const tool = findTool(turn.tools, "edit");
  if (!tool) return say(`I can't edit ${path}: no tool here edits files.`);
  const properties = tool.schema.properties ?? {};
  const names = Object.keys(properties);
  const named = (pattern: RegExp, other: string) => names.find((key) => pattern.test(key)) ?? other;
  const place = named(/path|file/i, "file_path");
  const everywhere = names.find((key) => /all|global/i.test(key));
  const args = {
    [place]: toToolPath(path, properties[place], turn),
    [named(/old|search|find|from|target/i, "old_string")]: change.before,
    [named(/new|replacement|replace_with|^to$/i, "new_string")]: change.after,
    ...(everywhere && EVERYWHERE.test(instruction) && { [everywhere]: true }),
  };
  return callTool(tool, fillObject(tool.schema, "", "", turn, args));
};

function readChange(instruction: string, path: string): { before: string; after: string } | undefined {
  const { text, reveal } = mask(withoutPlace(dropEnd(instruction), path));
  for (const form of FORMS) {
    const found = form.exec(text);
    if (found?.[1] && found[2]) return { before: unquote(reveal(found[1])), after: unquote(reveal(dropEnd(found[2]))) };
  }
  return undefined;
}

// "in a.txt" may stand before or after what is to be changed, and is part of neither.
function withoutPlace(instruction: string, path: string): string {
  const file = `["'\`]?${literal(path)}["'\`]?`;
  return instruction
    .replace(
      new RegExp(
        `[,:]?\\s*\\b(?:in|inside|within|of|edit|open|modify|change|update)\\s+(?:the\\s+)?(?:file\\s+)?${file}\\s*[,:]?\\s*(?:and\\s+|by\\s+|to\\s+|so that\\s+)?`,
        "i",
      ),
      " ",
    )
    .replace(/\breplacing\b/i, "replace")
    .replace(/\bchanging\b/i, "change")
    .trim();
}
