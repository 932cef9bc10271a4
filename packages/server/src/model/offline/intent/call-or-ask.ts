import { readList } from "../coerce-value.ts";
import { readArguments } from "../fill-arguments.ts";
import { type OfflineTool, requiredNames, typeOf } from "../offline-tool.ts";
import { mask, quotedParts } from "../phrase.ts";
import { restOf } from "../rest-of.ts";
import { callTool, type Step, say } from "../step.ts";
import { readTimes } from "../times.ts";
import type { Turn } from "../turn.ts";

/** Calls a tool with what an instruction gives it. What it needs and was not told is asked for: a made-up value could do anything. */
export function callOrAsk(tool: OfflineTool, instruction: string, turn: Turn): Step[] {
  const own = Object.keys(tool.schema.properties ?? {}).some((name) => /times|repeat/i.test(name));
  // Where "times" is a parameter of the tool's own, it is called once.
  const { order, times } = own ? { order: instruction, times: 1 } : readTimes(instruction);
  const places = severalPlaces(tool, order);
  if (places) return places.flatMap((place) => callOrAsk(tool, `${tool.name} ${place}`, turn));
  const searches = oneForEachPlace(tool, order);
  if (searches) return searches.flatMap((each) => callOrAsk(tool, each, turn));
  const { args, guessed } = readArguments(tool, order, turn);
  if (guessed.length > 0) {
    const example = guessed.map((name) => `${name}=…`).join(", ");
    return say(`${tool.name} needs ${guessed.join(" and ")}. Say for example: Use ${tool.name} with ${example}`);
  }
  const calls = eachValue(tool, args, order).flatMap((each) => callTool(tool, each));
  return Array.from({ length: times }, () => calls).flat();
}

/** Words that may well be a sentence with an "and" in it. */
const PROSE =
  /^(?:.*_)?(?:query|question|text|message|contents?|body|prompt|instructions?|description|summary|comment|note|fact|sentence|command|cmd|code|script|input|title|subject|reason|pattern|search|phrase|label|path|file|url)$/i;
const ITEM = "[\\p{L}\\p{N}_.@'’-]+(?:\\s[\\p{L}\\p{N}_.@'’-]+){0,2}?";
const SEVERAL = new RegExp(`^(?:both\\s+)?${ITEM}(?:,\\s*${ITEM})*,?\\s+and\\s+(?:(?:for|in|on)\\s+)?${ITEM}$`, "iu");

/** "Use ls on docs and on src" */
function severalPlaces(tool: OfflineTool, instruction: string): string[] | undefined {
  const names = Object.keys(tool.schema.properties ?? {});
  const rest = restOf(instruction, tool);
  const isOfPlaces = requiredNames(tool.schema).length === 0 && names.some((name) => /path|dir|folder/i.test(name));
  return isOfPlaces && SEVERAL.test(rest) ? itemsOf(rest) : undefined;
}

const PATH = "(?:[\\w@.-]*[/.][\\w@./-]*\\w|[\\w@-]+/?)";
const IN_SEVERAL = new RegExp(
  `^([\\s\\S]+\\s+(?:in|inside|within)\\s+)(?:both\\s+)?(${PATH}(?:,\\s*${PATH})*,?\\s+and\\s+(?:in\\s+)?${PATH})\\s*[.?!]?$`,
  "i",
);

/** "grep for TODO in src and a.txt": what may be told one place is told one at a time. */
function oneForEachPlace(tool: OfflineTool, instruction: string): string[] | undefined {
  const names = Object.keys(tool.schema.properties ?? {});
  const needed = requiredNames(tool.schema);
  const takesPlace =
    needed.length === 1 && names.some((name) => /path|dir|folder/i.test(name) && !needed.includes(name));
  const { text, reveal } = mask(instruction);
  const [, what, places] = (takesPlace && IN_SEVERAL.exec(text)) || [];
  // Two plain words may as well be what is looked for: "bread in butter and jam".
  if (!what || !places || !/[./]/.test(places)) return undefined;
  return itemsOf(places).map((place) => reveal(`${what}${place}`));
}

function itemsOf(said: string): string[] {
  return readList(said.replace(/^both\s+/i, "")).map((item) => item.replace(/^(?:for|in|on)\s+/i, ""));
}

/** "for Rome, Paris and Oslo": a tool that takes one of them is called for each. */
function eachValue(tool: OfflineTool, args: Record<string, unknown>, instruction: string): Record<string, unknown>[] {
  const [name = "", ...others] = requiredNames(tool.schema);
  const value = args[name];
  const isText = typeOf(tool.schema.properties?.[name] ?? {}) === "string" && !PROSE.test(name);
  if (others.length > 0 || !isText || typeof value !== "string" || !SEVERAL.test(value)) return [args];
  if (quotedParts(instruction).includes(value)) return [args];
  return itemsOf(value).map((item) => ({ ...args, [name]: item }));
}
