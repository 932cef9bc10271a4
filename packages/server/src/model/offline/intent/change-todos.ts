import { findTool } from "../find-tool.ts";
import { dropEnd, mask, POLITE, unquote } from "../phrase.ts";
import { listPlan } from "../report-results.ts";
import { type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";
import { type Status, workOff, writeTodos } from "./todo-intent.ts";

const LIST = "(?:to[- ]?dos?(?:[- ]list)?|task list|check ?list|plan)";
const OWN = "(?:(?:my|the|your|our|that|this)\\s+)";
const ASKED = new RegExp(
  `^\\s*${POLITE}(?:what(?:['’]?s|\\s+is|\\s+are)\\s+(?:(?:left\\s+)?(?:on|in)\\s+)?|(?:show|list|read|display|print|give|tell)(?:\\s+me)?\\s+(?:what(?:['’]s|\\s+is)\\s+on\\s+)?)${OWN}(?:current\\s+)?${LIST}(?:\\s+(?:again|now|please))?\\s*[?.!]*$`,
  "i",
);
const ADD = new RegExp(
  `^\\s*${POLITE}(?:add|append|put)\\s+(\\S[\\s\\S]*?)\\s+(?:to|on|onto|in|into)\\s+${OWN}${LIST}$`,
  "i",
);
const DONE = new RegExp(
  `^\\s*${POLITE}(?:mark|tick|check|cross|set|complete)\\s+(?:off\\s+)?(?:the\\s+)?(?:(?:item|step|task|to-?do|number)\\s+)?(\\S[\\s\\S]*?)(?:\\s+(?:item|step|task|to-?do))?(?:\\s+off)?(?:\\s+(?:as|to)\\s+(?:done|completed?|finished))?(?:\\s+(?:on|in|of|from)\\s+${OWN}${LIST})?$`,
  "i",
);
const WORK = new RegExp(
  `^\\s*${POLITE}(?:work\\s+(?:through|off|on)\\s+|work\\s+(?=(?:it|them|${OWN}${LIST})\\s+off\\b)|do\\s+|execute\\s+|carry\\s+out\\s+|carry\\s+(?=it\\s+out\\b)|complete\\s+|finish\\s+|go\\s+through\\s+|follow\\s+)(?:it|them|all of (?:it|them)|${OWN}${LIST}|${OWN}?(?:rest|remaining\\s+\\w+|steps?|tasks?|items?))(?:\\s+(?:off|out|now|all|of the list))*$`,
  "i",
);
const PLACES = ["first", "second", "third", "fourth", "fifth"];

/** A todo list that is there already: asked for, added to, ticked off or worked off. */
export function changeTodos(
  request: string,
  turn: Turn,
  stepsOf: (instruction: string) => readonly Step[],
): readonly Step[] | undefined {
  const tool = findTool(turn.tools, "todos");
  if (!tool) return undefined;
  const { text, reveal } = mask(dropEnd(request));
  const { plan } = turn;
  const items = plan.map(({ content }) => content);
  if (ASKED.test(text))
    return say(plan.length > 0 ? `The todo list:\n${listPlan(plan)}` : "There is no todo list yet.");
  const statusAt = (at: number) => (plan[at]?.status ?? "pending") as Status;
  const added = ADD.exec(text)?.[1];
  if (added) return [writeTodos(tool, [...items, unquote(reveal(added))], statusAt)];
  if (plan.length === 0) return undefined;
  if (WORK.test(text)) return workOff(tool, items, stepsOf, (at) => statusAt(at) === "completed");
  const done = DONE.exec(text)?.[1];
  const place = done === undefined ? -1 : placeOf(unquote(reveal(done)), items);
  return place === -1 ? undefined : [writeTodos(tool, items, (at) => (at === place ? "completed" : statusAt(at)))];
}

/** By its words, its number or its place. */
function placeOf(said: string, items: readonly string[]): number {
  const at = items.findIndex((item) => item.toLowerCase() === said.toLowerCase());
  if (at !== -1) return at;
  const place = /^\d+$/.test(said) ? Number(said) - 1 : PLACES.indexOf(said.replace(/\s+one$/i, "").toLowerCase());
  return place < items.length ? place : -1;
}
