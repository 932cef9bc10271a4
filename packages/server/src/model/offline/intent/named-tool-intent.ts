import { eachFile } from "../each-file.ts";
import { type OfflineTool, requiredNames } from "../offline-tool.ts";
import { mask } from "../phrase.ts";
import { isLastWord, mentionOf } from "../rest-of.ts";
import { isOneSlip } from "../spelling.ts";
import { type Intent, say } from "../step.ts";
import type { Turn } from "../turn.ts";
import { callOrAsk } from "./call-or-ask.ts";

const USE = "(?:use|using|call|calling|run|invoke|execute|try|trigger|apply|via|through|employ|start|with)";
const BEFORE = new RegExp(`\\b${USE}\\s+(?:the\\s+|your\\s+|my\\s+|a\\s+|tool\\s+|function\\s+)*["'\`]?$`, "i");
const AFTER = /^["'`]?\s*(?:tool|function)\b|^\s*\(/i;
const POLITE = /^(?:please|now|can you|could you|would you|i want you to|i'd like you to|go ahead and)?[\s,]*["'`]?$/i;
const PLACE = /path|dir|folder/i;
/** By the word "tool", or by a name that only a tool would have. */
const UNKNOWN: readonly RegExp[] = [
  /\b(?:tool|function)\s+(?:called|named)\s+["'`]?([\w.-]+)/i,
  /\b(?:use|call|invoke|run|try)\s+(?:the\s+|your\s+)?["'`]?([\w.-]+)["'`]?\s+(?:tool|function)\b/i,
  /\b(?:use|call|invoke|try)\s+(?:the\s+|your\s+)?(?:tool|function)\s+["'`]?([\w.-]+)/i,
  /\b(?:use|call|invoke|try)\s+(?:the\s+|your\s+)?["'`]?([a-z0-9]+(?:_[a-z0-9]+)+)\b(?![./])/i,
];

/** A tool that is asked for by its name, whatever it is called. */
export const namedToolIntent: Intent = (instruction, turn) => {
  const several = severalNamed(instruction, turn.tools);
  if (several) return several.tools.flatMap((tool) => callOrAsk(tool, `Use ${tool.name} ${several.after}`, turn));
  const named = askedFor(instruction, turn.tools);
  if (named) return callForEach(named, instruction, turn);
  const { text } = mask(instruction);
  const name = UNKNOWN.map((form) => form.exec(text)?.[1]).find((found) => found !== undefined);
  // "the shell tool" and the like name a kind; the intents after this one look for whichever tool is of it.
  if (!name || /^(the|this|that|a|any|some|shell|bash|command|terminal|right|todo)$/i.test(name)) return undefined;
  const meant = turn.tools.find((tool) => isOneSlip(name.toLowerCase(), tool.name.toLowerCase()));
  const hint = meant ? ` Did you mean ${meant.name}?` : "";
  return say(`I have no tool named "${name}".${hint} ${listTools(turn.tools)}`);
};

function callForEach(tool: OfflineTool, instruction: string, turn: Turn): ReturnType<Intent> {
  const call: Intent = (part) => callOrAsk(tool, part, turn);
  const isOfFiles = requiredNames(tool.schema).some((name) => PLACE.test(name));
  return (isOfFiles ? eachFile(call) : call)(instruction, turn);
}

export function listTools(tools: readonly OfflineTool[]): string {
  if (tools.length === 0) return "I have no tools here.";
  return `My tools are: ${tools.map(({ name }) => name).join(", ")}.`;
}

const BETWEEN = /^["'`]?(?:\s+tools?)?\s*(?:,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)(?:the\s+|your\s+)?["'`]?$/i;
const BOTH = new RegExp(`\\b${USE}\\s+(?:(?:both|all|the|your|my|tools)\\s+)*["'\`]?$`, "i");

/** "Use ping and add": names one after the other, with nothing but an "and" between them. */
function severalNamed(instruction: string, tools: readonly OfflineTool[]) {
  const mentions = tools
    .flatMap((tool) => ({
      tool,
      at: instruction.indexOf(tool.name),
      end: instruction.indexOf(tool.name) + tool.name.length,
    }))
    .filter(({ at, end }) => at !== -1 && !/[\w-]/.test(`${instruction[at - 1] ?? ""}${instruction[end] ?? ""}`))
    .sort((a, b) => a.at - b.at);
  const [first, ...others] = mentions;
  if (!first || others.length === 0 || !BOTH.test(instruction.slice(0, first.at))) return undefined;
  const joined = others.every(({ at }, index) => BETWEEN.test(instruction.slice(mentions[index]?.end, at)));
  if (!joined) return undefined;
  return {
    tools: mentions.map(({ tool }) => tool),
    after: instruction.slice(mentions.at(-1)?.end).replace(/^["'`]/, ""),
  };
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
  return tool && callForEach(tool, instruction, turn);
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
