import { coerceValue } from "./coerce-value.ts";
import { fillObject } from "./fill-object.ts";
import { type OfflineTool, requiredNames, type Schema } from "./offline-tool.ts";
import { jsonObjects, mask, parseObject, unquote } from "./phrase.ts";
import { restOf } from "./rest-of.ts";
import type { Turn } from "./turn.ts";
import { findPath, folderWord, toToolPath, workingDirectory } from "./workspace-path.ts";

/** The arguments that an instruction gives for a tool: as JSON, by name, in a call's brackets, or as the rest of its words. */
export function fillArguments(tool: OfflineTool, instruction: string, turn: Turn): Record<string, unknown> {
  const given = { ...fromJson(tool.schema, instruction), ...fromCall(tool, instruction) };
  const rest = restOf(instruction, tool);
  const filled = fillObject(tool.schema, instruction, rest, turn, given);
  return { ...placeOf(tool, rest, turn), ...(Object.keys(filled).length > 0 ? filled : subjectOf(tool, rest)) };
}

/** What a tool that needs nothing is asked about: "recall my favourite colour", "read the artifact report.md". */
function subjectOf({ schema }: OfflineTool, rest: string): Record<string, unknown> {
  const names = requiredNames(schema).length > 0 ? [] : Object.keys(schema.properties ?? {});
  const path = findPath(rest);
  const name = path === undefined ? undefined : names.find((key) => /^(?:file_?)?name$/i.test(key));
  if (name) return { [name]: path };
  const query = names.find((key) => /^(?:query|question|search|text)$/i.test(key));
  if (query) return rest ? { [query]: rest } : {};
  const word = /^(?:named\s+|called\s+)?(@?[\w./-]+)$/.exec(rest)?.[1];
  const called = names.find((key) => /^name$/i.test(key));
  return called && word ? { [called]: word } : {};
}

/** Where a tool is to look that needs nothing else: its default is often the root, which is not the working directory. */
function placeOf({ schema }: OfflineTool, rest: string, turn: Turn): Record<string, unknown> {
  const name = Object.keys(schema.properties ?? {}).find((key) => /path|dir|folder/i.test(key));
  if (!name || requiredNames(schema).length > 0) return {};
  return {
    [name]: toToolPath(findPath(rest) ?? folderWord(rest) ?? workingDirectory(turn), schema.properties?.[name], turn),
  };
}

function fromJson(schema: Schema, text: string): Record<string, unknown> {
  const value = jsonObjects(text).map(parseObject)[0];
  const known = Object.keys(schema.properties ?? {});
  if (!value) return {};
  return known.length === 0 || Object.keys(value).some((key) => known.includes(key)) ? value : {};
}

/** `add(1, 2)`: positions follow the order of the schema. Named ones are read with the other names. */
function fromCall(tool: OfflineTool, text: string): Record<string, unknown> {
  const { text: masked, reveal } = mask(text);
  const at = masked.indexOf(`${tool.name}(`);
  const end = masked.indexOf(")", at);
  if (at === -1 || end === -1) return {};
  const parts = masked
    .slice(at + tool.name.length + 1, end)
    .split(",")
    .map((part) => part.trim());
  const names = Object.keys(tool.schema.properties ?? {});
  const args: Record<string, unknown> = {};
  for (const [index, part] of parts.entries()) {
    const name = names[index];
    if (!name || part === "" || /^[\w"'-]+\s*[=:]/.test(part) || reveal(part).startsWith("{")) continue;
    args[name] = coerceValue(unquote(reveal(part)), tool.schema.properties?.[name] ?? {});
  }
  return args;
}
