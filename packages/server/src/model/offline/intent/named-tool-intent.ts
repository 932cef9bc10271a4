import { eachFile } from "../each-file.ts";
import { fillArguments } from "../fill-arguments.ts";
import { type OfflineTool, requiredNames } from "../offline-tool.ts";
import { mask } from "../phrase.ts";
import { isLastWord, mentionOf, restOf } from "../rest-of.ts";
import { callTool, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";

const USE = "(?:use|using|call|calling|run|invoke|execute|try|trigger|apply|via|through|employ|start|with)";
const BEFORE = new RegExp(`\\b${USE}\\s+(?:the\\s+|your\\s+|my\\s+|a\\s+|tool\\s+|function\\s+)*["'\`]?$`, "i");
const AFTER = /^["'`]?\s*(?:tool|function)\b|^\s*\(/i;
const POLITE = /^(?:please|now|can you|could you|would you|i want you to|i'd like you to|go ahead and)?[\s,]*["'`]?$/i;
const PLACE = /path|dir|folder/i;
/** By the word "tool", or by a name that only a tool would have. */
const UNKNOWN: readonly RegExp[] = [
  /\b(?:tool|function)\s+(?:called|named)\s+["'`]?([\w.-]+)/i,
  /\b(?:use|call|invoke|run|try)\s+(?:the\s+|your\s+)?["'`]?([\w.-]+)["'`]?\s+(?:tool|function)\b/i,
  /\b(?:use|call|invoke|try)\s+(?:the\s+|your\s+)?["'`]?([a-z0-9]+(?:_[a-z0-9]+)+)\b(?![./])/i,
];

/** A tool that is asked for by its name, whatever it is called. */
export const namedToolIntent: Intent = (instruction, turn) => {
  const named = askedFor(instruction, turn.tools);
  if (named) {
    const call: Intent = (part) => callNamed(named, part, turn);
    const isOfFiles = requiredNames(named.schema).some((name) => PLACE.test(name));
    return (isOfFiles ? eachFile(call) : call)(instruction, turn);
  }
  const { text } = mask(instruction);
  const name = UNKNOWN.map((form) => form.exec(text)?.[1]).find((found) => found !== undefined);
  // "the shell tool" and the like name a kind; the intents after this one look for whichever tool is of it.
  if (!name || /^(the|this|that|a|any|some|shell|bash|command|terminal|right|todo)$/i.test(name)) return undefined;
  return say(`I have no tool named "${name}". ${listTools(turn.tools)}`);
};

/** What a tool needs and was not told is asked for: a made-up value could do anything. */
function callNamed(tool: OfflineTool, instruction: string, turn: Turn): Step[] {
  const args = fillArguments(tool, instruction, turn);
  const needed = requiredNames(tool.schema);
  const places = needed.filter((name) => PLACE.test(name));
  const values = needed.filter((name) => !PLACE.test(name));
  const isOnlyNamed = restOf(instruction, tool) === "" && !mask(instruction).text.includes("\uE000");
  const lacking = [...places.filter((name) => args[name] === ""), ...(isOnlyNamed ? values : [])];
  if (lacking.length === 0) return callTool(tool, args);
  const example = lacking.map((name) => `${name}=…`).join(", ");
  return say(`${tool.name} needs ${lacking.join(" and ")}. Say for example: Use ${tool.name} with ${example}`);
}

export function listTools(tools: readonly OfflineTool[]): string {
  if (tools.length === 0) return "I have no tools here.";
  return `My tools are: ${tools.map(({ name }) => name).join(", ")}.`;
}

function askedFor(instruction: string, tools: readonly OfflineTool[]): OfflineTool | undefined {
  const asked = tools.filter((tool) => isAskedFor(instruction, tool));
  const [byLastWord, byName] = [true, false].map((last) =>
    asked.filter((tool) => isLastWord(tool, mentionOf(instruction, tool)?.[0] ?? "") === last),
  );
  // Of several servers' tools with one name none is meant more than another.
  return longest(byName ?? []) ?? (byLastWord?.length === 1 ? byLastWord[0] : undefined);
}

function isAskedFor(instruction: string, tool: OfflineTool): boolean {
  const match = mentionOf(instruction, tool);
  if (!match) return false;
  const before = instruction.slice(0, match.index);
  const after = instruction.slice(match.index + match[0].length);
  if (BEFORE.test(before) || AFTER.test(after)) return true;
  // Nobody writes such a name by chance, unless it is to ask about it.
  if (/[_A-Z-]/.test(tool.name.slice(1)) && match[0] === tool.name)
    return !/\b(?:what|how|which|why|explain|describe)\b/i.test(before);
  return false;
}

/** "delete a.txt", "grep TODO": an instruction that begins with the tool's own name. */
export const leadingToolIntent: Intent = (instruction, turn) => {
  if (isQuestion(instruction)) return undefined;
  const tool = longest(turn.tools.filter((candidate) => isLeading(instruction, candidate)));
  return tool && callNamed(tool, instruction, turn);
};

function isLeading(instruction: string, tool: OfflineTool): boolean {
  if ("subagent_type" in (tool.schema.properties ?? {}) || tool.words.length > 3) return false;
  const match = mentionOf(instruction, tool);
  return match !== null && POLITE.test(instruction.slice(0, match.index));
}

// `read_file` also contains `read`: the longer name is the one that was meant.
function longest(tools: readonly OfflineTool[]): OfflineTool | undefined {
  return [...tools].sort((a, b) => b.name.length - a.name.length)[0];
}

function isQuestion(instruction: string): boolean {
  return /\?\s*$/.test(instruction) && !/^(?:can|could|would|will) you\b/i.test(instruction);
}
