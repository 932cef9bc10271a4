import { NUMBER } from "../coerce-value.ts";
import { findTool } from "../find-tool.ts";
import { asksAbout } from "../negation.ts";
import { type OfflineTool, requiredNames, wordsOf } from "../offline-tool.ts";
import { POLITE } from "../phrase.ts";
import type { Intent, Step } from "../step.ts";
import type { Turn } from "../turn.ts";
import { callOrAsk } from "./call-or-ask.ts";

/** Words in names that say how rather than what: they don't tell one tool from another. */
const VAGUE = new Set(
  "get set run do make tool api fetch call use new my the list read show task file files data info write edit create delete remove execute update send search find ask open".split(
    " ",
  ),
);

const PAGE =
  /\b(?:open|visit|fetch|download|browse|load|read|go to|look at|show|get|summari[sz]e|what)\b[\s\S]*\bhttps?:\/\/\S/i;

/** A tool that is not named but obviously meant: "What is the weather in Paris?" where there is a `get_weather`. */
export const familiarToolIntent: Intent = (instruction, turn) => {
  const said = new Set(wordsOf(instruction).map(stem));
  // "Find TODO comments" asks for no list of things to do; whoever wants one has been heard already.
  const todos = findTool(turn.tools, "todos");
  const opener = PAGE.test(instruction)
    ? turn.tools.find(({ schema }) => requiredNames(schema).includes("url"))
    : undefined;
  const isTold = STATEMENT.test(instruction) || PAST.test(instruction);
  const mayAct = !QUESTION.test(instruction);
  const isPossible = (tool: OfflineTool) => tool !== todos && (mayAct || !isActing(tool));
  const meant = opener ?? (isTold ? undefined : turn.tools.find((tool) => isPossible(tool) && isMeant(tool, said)));
  if (meant) return callOrAsk(meant, about(instruction, meant), turn);
  return orderedByVerb(instruction, turn);
};

/** "The user said so" tells something, and asks for no user; neither does a question about what was. */
const PAST = /^\s*(?:has|have|had|did|was|were)\b/i;
const STATEMENT =
  /^\s*(?:the|an?|my|our|your|his|her|their|this|that|these|those|some)\s+[\p{L}' -]{1,40}?\s(?:said|says|say|is|are|was|were|has|have|had|wants?|wanted|asked|told|did|does|must|should|will|can|can't|won't)\b/iu;
const QUESTION = /^\s*(?:do|does|did|have|has|had|is|are|was|were|am|who|when|what|which|why|where)\b/i;
const ACTS =
  /^(?:remember|forget|save|store|write|create|make|add|send|post|delete|remove|update|edit|set|put|book|order|buy|pay|run|execute|publish|deploy|move|rename|copy|cancel|close|start|stop|kill|clear|reset)$/;

function isActing({ words }: OfflineTool): boolean {
  return ACTS.test(words[0] ?? "");
}

const ORDER = new RegExp(`^\\s*${POLITE}(\\p{L}{4,})\\s+(?=\\S)`, "iu");

/** Verbs of things that need no tool, or another: "save the day", "present yourself". */
const EVERYDAY = /^(?:save|store|note|present|keep|take|give|tell|move|copy|play|start|stop)$/i;

/** "Convert 100 USD to EUR" where `convert_currency` is the one tool that converts anything. */
function orderedByVerb(instruction: string, turn: Turn): readonly Step[] | undefined {
  const [order, verb = ""] = ORDER.exec(instruction) ?? [];
  if (order === undefined || VAGUE.has(verb.toLowerCase()) || EVERYDAY.test(verb) || asksAbout(instruction))
    return undefined;
  const [tool, ...others] = turn.tools.filter(({ words }) => words.length > 1 && words[0] === verb.toLowerCase());
  if (!tool || others.length > 0) return undefined;
  const object = new RegExp(`^(?:(?:the|an?|my|our)\\s+)?${tool.words.slice(1).join("\\s+")}s?\\b\\s*:?`, "i");
  return callOrAsk(tool, `${tool.name} ${instruction.slice(order.length).replace(object, "")}`, turn);
}

function isMeant(tool: OfflineTool, said: ReadonlySet<string>): boolean {
  const { words, schema } = tool;
  if ("subagent_type" in (schema.properties ?? {})) return false;
  // Who speaks of a user does not ask to have one deleted.
  if (isActing(tool) && !said.has(stem(words[0] ?? ""))) return false;
  const telling = words.filter((word) => word.length > 2 && !VAGUE.has(word));
  return telling.length > 0 && telling.every((word) => said.has(stem(word)));
}

// What an unnamed tool is to work on comes after the words that gave it away.
function about(instruction: string, { name, words }: OfflineTool): string {
  const telling = words.filter((word) => !VAGUE.has(word));
  const last = Math.max(...telling.map((word) => endOf(instruction, stem(word))));
  const after = instruction
    .slice(last)
    .replace(/^\w*/, "")
    .replace(/^\s*(?:(?:be\s+)?like|today|now|currently|forecast)\b/i, "")
    .replace(/,?\s+(?:today|tomorrow|right now|now|currently|at the moment|these days)\s*(?=[?.!]*$)/i, "")
    .replace(/^\s+(?:in|at|for|of|from|on|to|about|with|between)\s+(?:the\s+)?/i, " ");
  // "roll 3 dice": the number stands before the thing.
  const count = new RegExp(`\\b(?:${NUMBER})\\s+(?=${words.at(-1)})`, "i").exec(instruction)?.[0];
  if (count !== undefined) return `${name} ${count}${words.at(-1)} ${after}`;
  // "a 30 minute meeting": a measure stands before the thing as well.
  const measure = new RegExp(
    `\\b(?:${NUMBER})[\\s-](?:minutes?|hours?|days?|weeks?|seconds?)(?=\\s+${words.at(-1)})`,
    "i",
  ).exec(instruction)?.[0];
  return /[\p{L}\p{N}]/u.test(after) ? `${name} ${after}${measure ? `, ${measure}` : ""}` : instruction;
}

function stem(word: string): string {
  return word.replace(/(?:ings?|ed|es|s)$/, "");
}

function endOf(text: string, word: string): number {
  const at = text.toLowerCase().lastIndexOf(word);
  return at === -1 ? 0 : at + word.length;
}
