import { NUMBER, numbersIn, readList } from "../coerce-value.ts";
import { findTool } from "../find-tool.ts";
import type { OfflineTool } from "../offline-tool.ts";
import { jsonObjects, mask, quotedParts } from "../phrase.ts";
import { withReferent } from "../split-instructions.ts";
import { type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";

const ASKED = /\b(?:to-?dos|to[- ]?do[- ]list|task list|check ?list|plan)\b|\bwrite_todos\b/i;
const MAKE =
  /\b(?:want|need|give me|would like|track|make|write|create|start|set up|draw up|prepare|use|plan|build|keep|begin with)\b/i;
const WORK =
  /\b(?:work|carry|execute|complete|do|finish|go through|process|tick|check)\b[\s\S]{0,30}\b(?:off|through|it|them|each|all|out|one by one|step by step|steps?|items?|the (?:plan|list)|everything)\b/i;
const MAX_ITEMS = 20;
/** "a plan to list the files and read a.txt, then carry it out" */
const PLAN_TO =
  /\b(?:plan|to[- ]?do[- ]list|task list|check ?list)\s+to\s+([\s\S]+?)(?:[.,;]?\s+(?:(?:and|then)\s+)+(?:execute|carry|work|do|complete|follow|tick|go)\b[\s\S]*)?[.!]?$/i;
/** "a todo list with wash, dry and fold" */
const WITH =
  /\b(?:with|of|containing)\s+(?:the\s+)?(?:items?\s+|steps?\s+|tasks?\s+|entries\s+)?((?!(?:\w+\s+)?(?:steps?|items?|tasks?|things?|entries)\b)[^.:;]+?,[^.:;]+?)(?:[.,;]?\s+(?:(?:and|then)\s+)+(?:execute|carry|work|do|complete|finish|tick|go)\b[\s\S]*)?[.!]?$/i;

const LIST_LINE = /^[^\S\n]*(?:\d+[.)]|[-*•])\s[^\n]*$/gm;
const COUNTED = new RegExp(
  `(?<![\\w.])(${NUMBER})\\s+(?:\\w+\\s+)?(?:steps?|items?|things?|tasks?|entries|to-?dos?|points?)\\b`,
  "i",
);

export type Status = "pending" | "in_progress" | "completed";

/**
 * A plan, and its working off: one item at a time is in progress, its own instruction (if it is one) is carried out, then it
 * is completed. It takes the whole request, since its items are instructions too.
 */
export function todoSteps(
  request: string,
  turn: Turn,
  stepsOf: (instruction: string) => readonly Step[],
): readonly Step[] | undefined {
  // With the arguments as JSON the tool is asked for like any other.
  if (
    jsonObjects(request).length > 0 ||
    // In a list of things to do, a todo list is one of them.
    !ASKED.test(request.replace(LIST_LINE, "").replace(/\b(?:named|called)\s+\S+/gi, "")) ||
    !MAKE.test(request) ||
    (!PLAN_TO.test(request) && /\bfile\b|\w\.\w{1,4}\b/i.test(mask(request).text.split(":")[0] ?? ""))
  )
    return undefined;
  const items = readItems(request);
  if (items.length === 0 || items.length > MAX_ITEMS) return say(`I write todo lists of 1 to ${MAX_ITEMS} steps.`);
  const tool = findTool(turn.tools, "todos");
  if (!tool)
    return say(
      `I have no tool for a todo list; the plan would be:\n${items.map((item, at) => `${at + 1}. ${item}`).join("\n")}`,
    );
  if (!WORK.test(request.replace(/\bto[- ]do\b/gi, "todo"))) return [writeTodos(tool, items, () => "pending")];
  return workOff(tool, items, stepsOf);
}

/** What is done already stays done. */
export function workOff(
  tool: OfflineTool,
  items: readonly string[],
  stepsOf: (instruction: string) => readonly Step[],
  isDone: (index: number) => boolean = () => false,
): readonly Step[] {
  const worked = items.flatMap((item, current) => {
    if (isDone(current)) return [];
    const statusAt = (at: number) =>
      at < current || isDone(at) ? "completed" : at === current ? "in_progress" : "pending";
    return [writeTodos(tool, items, statusAt), ...stepsOf(withReferent(item, items.slice(0, current)))];
  });
  return [...worked, writeTodos(tool, items, () => "completed")];
}

export function writeTodos(tool: OfflineTool, items: readonly string[], statusAt: (index: number) => Status): Step {
  const list = Object.keys(tool.schema.properties ?? {}).find((name) => /todo|item|task|list/i.test(name)) ?? "todos";
  return {
    type: "call",
    tool: tool.name,
    args: { [list]: items.map((content, at) => ({ content, status: statusAt(at) })) },
  };
}

function readItems(request: string): string[] {
  const quoted = quotedParts(request);
  if (quoted.length > 1) return quoted.slice(0, MAX_ITEMS);
  const [head = "", ...rest] = request.split(/:\s*\n?/);
  const after = rest
    .join(": ")
    .replace(/[.;,]?\s*(?:(?:and|then)\s+)+(?:work|carry|do|complete|finish|execute|go)\b[\s\S]*$/i, "");
  const named = ASKED.test(head) && after.trim() !== "" ? listed(after) : [];
  if (named.length > 0) return named.slice(0, MAX_ITEMS);
  const spoken = (PLAN_TO.exec(request) ?? WITH.exec(request))?.[1];
  if (spoken) return listed(spoken).slice(0, MAX_ITEMS);
  const count = numbersIn(COUNTED.exec(head)?.[1] ?? head)[0] ?? 3;
  return Array.from({ length: count }, (_, at) => `Step ${at + 1}`);
}

/** A box before an item is how lists are drawn. */
function readItemsOf(text: string): string[] {
  return readList(text).map((item) => item.replace(/^\[[ xX]?\]\s*/, ""));
}

function listed(text: string): string[] {
  const sentences = text.split(/\.\s+(?=\p{Lu})/u);
  const items =
    sentences.length > 1 &&
    /^(?:now\s+|please\s+)*(?:work|do|go|execute|carry|complete|finish|follow|perform|process|tackle|tick)\b/i.test(
      sentences.at(-1) ?? "",
    )
      ? sentences.slice(0, -1).join(". ")
      : text;
  return readItemsOf(items.replace(/,?\s+then\s+/gi, ", "));
}
