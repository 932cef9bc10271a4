import { coerceValue, NUMBER, numbersIn } from "./coerce-value.ts";
import { type Filled, fillKnown } from "./fill-object.ts";
import { type OfflineTool, requiredNames, type Schema } from "./offline-tool.ts";
import { jsonObjects, literal, mask, parseObject, unquote } from "./phrase.ts";
import { restOf } from "./rest-of.ts";
import type { Turn } from "./turn.ts";
import { findPath, folderWord, toToolPath, workingDirectory } from "./workspace-path.ts";

/** The arguments that an instruction gives for a tool: as JSON, by name, in a call's brackets, or as the rest of its words. */
export function fillArguments(tool: OfflineTool, instruction: string, turn: Turn): Record<string, unknown> {
  return readArguments(tool, instruction, turn).args;
}

export function readArguments(tool: OfflineTool, instruction: string, turn: Turn): Filled {
  const given = {
    ...countOf(tool, instruction),
    ...fromJson(tool.schema, instruction),
    ...fromCall(tool, instruction),
  };
  const rest = restOf(instruction, tool);
  const { args, guessed } = fillKnown(tool.schema, instruction, rest, turn, given);
  const subject = Object.keys(args).length > 0 ? args : subjectOf(tool, rest);
  return { args: inOrderOf(tool.schema, { ...placeOf(tool, rest, turn), ...subject }), guessed };
}

/** As the tool names them, whatever the order in which they were found: what comes first is what a call is told by. */
function inOrderOf({ properties = {} }: Schema, args: Record<string, unknown>): Record<string, unknown> {
  const known = Object.keys(properties).filter((name) => name in args);
  return { ...Object.fromEntries(known.map((name) => [name, args[name]])), ...args };
}

const COUNT = /^(?:count|number|amount|quantity|n|times|how_?many|num_?\w*)$/i;

/** "roll 3 dice": how many of what the tool is about. */
function countOf({ words, schema }: OfflineTool, instruction: string): Record<string, unknown> {
  const name = Object.keys(schema.properties ?? {}).find((key) => COUNT.test(key));
  const thing = words.at(-1);
  if (!name || !thing || words.length < 2) return {};
  const said = new RegExp(`(?<![\\w.])(${NUMBER})\\s+${literal(thing)}s?\\b`, "i").exec(instruction)?.[1];
  const [count] = numbersIn(said ?? "");
  return count === undefined ? {} : { [name]: count };
}

/** What a tool that needs nothing is asked about: "recall my favourite colour", "read the artifact report.md". */
function subjectOf({ schema }: OfflineTool, rest: string): Record<string, unknown> {
  const names = requiredNames(schema).length > 0 ? [] : Object.keys(schema.properties ?? {});
  const path = findPath(rest);
  const name = path === undefined ? undefined : names.find((key) => /^(?:file_?)?name$/i.test(key));
  if (name) return { [name]: path };
  const query = names.find((key) => /^(?:query|question|search|text)$/i.test(key));
  if (query) return rest && !/^(?:everything|all|anything|all of it)$/i.test(rest) ? { [query]: rest } : {};
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
