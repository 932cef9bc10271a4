import { readList } from "../coerce-value.ts";
import { fillObject } from "../fill-object.ts";
import { dropEnd, literal, unquote } from "../phrase.ts";
import { IMPERATIVE } from "../split-instructions.ts";
import { callTool, type Intent, type Step, say } from "../step.ts";
import { type DelegateTool, findDelegateTool } from "../subagents.ts";
import type { Turn } from "../turn.ts";

const NAME = "[\"'`@]?([\\w-]+)[\"'`]?";
const AGENT = "(?:\\s+(?:sub-?agent|agent))?";
const TO = new RegExp(
  `\\b(?:delegate|hand(?: over| off)?|pass|assign|give|forward|send|outsource)\\b([\\s\\S]*?)\\s*\\bto\\s+(?:the\\s+|your\\s+|a\\s+)?(?:sub-?agent\\s+|agent\\s+)?(?:named\\s+|called\\s+)?${NAME}${AGENT}(?:\\s*[:,–—-]\\s*|\\s+(?:to|the task of|the task to|and (?:ask|tell) it to|that it should)\\s+|\\s*)([\\s\\S]*)$`,
  "i",
);
const askOf = (names: readonly string[]) =>
  new RegExp(
    `\\b(?:ask|have|let|get|tell|use|instruct|via|call|start|launch|spawn|want|need|(?:task|job|work)\\s+for|(?:can|could|would|will|should)(?=\\s+(?:the\\s+|your\\s+)?(?:sub-?agent\\s+|agent\\s+)?["'\`@]?(?:${names.map(literal).join("|")})\\b))\\s+(?:the\\s+|your\\s+|a\\s+)?(?:sub-?agent\\s+|agent\\s+)?["'\`@]?(${names.map(literal).join("|")})["'\`]?${AGENT}\\s*(?:[:,]\\s*|\\s+)(?:to\\s+|for\\s+)?([\\s\\S]+)$`,
    "i",
  );

/** "researcher: find the license", "@researcher find the license". */
const CALLED =
  /^\s*(?:(?:hey|hi|hello|ok|dear)[,!]?\s+)?(?:([\w-]+)\s*[:,]|@([\w-]+)[:,]?)\s+(?:(?:can|could|would|will) you\s+(?:please\s+)?)?([\s\S]+)$/i;
/** "Delegate two tasks: ask bob to …" */
const SEVERAL_TASKS =
  /^\s*(?:please\s+)?delegate\b[^:\n]*\b(?:tasks|things|jobs|the following|these)\b[^:\n]*:\s*([\s\S]+)$/i;
/** To any of them. */
const ANYONE =
  /\b(?:(?:use|ask|have|let|get|start|launch|spawn)\s+(?:an?\s+|one of (?:the|your)\s+|some\s*|another\s+)(?:sub-?agents?|agents?|helper|body|one)(?:\s+to|\s+and have it|:)?|delegate(?:\s+this)?\s*:)\s+([\s\S]+)$/i;

const NO_NAME = /^(?:an?|one|any|another|sub-?agents?|agents?|helpers?|somebody|someone|anybody|anyone)$/i;

/** Work for a subagent that is named. */
export const delegateIntent: Intent = (instruction, turn) => {
  const delegate = findDelegateTool(turn);
  const orders = SEVERAL_TASKS.exec(instruction)?.[1]?.split(
    /,?\s+and\s+(?=(?:ask|tell|have|get|let)\b)|;\s*|\n+\s*(?:\d+[.)]\s*|[-*•]\s*)?/i,
  );
  const tasks = orders?.map((order) => delegateIntent(order, turn));
  if (tasks?.every((task) => task !== undefined)) return tasks.flat();
  // What each of them is to do is theirs: it may ask several again, and so on, each time twice as many.
  const all = delegate && readAll(instruction, delegate.known);
  if (all) return all.flatMap((order) => delegateOne(order, delegate, turn) ?? []);
  const each = delegate && readEach(instruction, delegate.known);
  return each ? each.flatMap((order) => delegateIntent(order, turn) ?? []) : delegateOne(instruction, delegate, turn);
};

function delegateOne(instruction: string, delegate: DelegateTool | undefined, turn: Turn): readonly Step[] | undefined {
  const wanted = readDelegation(instruction, delegate);
  if (!wanted) return undefined;
  if (!delegate) return say(`I can't delegate to "${wanted.who}": I have no subagents here.`);
  const who = delegate.known.find((name) => name.toLowerCase() === wanted.who.toLowerCase()) ?? wanted.who;
  const args = { [delegate.who]: who, [delegate.what]: wanted.what };
  return callTool(delegate.tool, fillObject(delegate.tool.schema, "", "", turn, args));
}

/** One of these names. */
function nameOf(known: readonly string[]): string {
  return `(?:the\\s+|your\\s+)?(?:${known.map(literal).join("|")})${AGENT}`;
}

/** "ask bob and ann to list the files": an order for each of them. */
function readAll(instruction: string, known: readonly string[]): string[] | undefined {
  if (known.length < 2) return undefined;
  const name = nameOf(known);
  const all = new RegExp(
    `\\b(?:ask|have|let|get|tell|use|want)\\s+(?:both\\s+)?(${name}(?:\\s*,\\s*${name})*\\s*,?\\s+and\\s+${name})\\s+(?:both\\s+)?(?:to\\s+)?([\\s\\S]+)$`,
    "i",
  ).exec(instruction);
  return all
    ? readList(all[1] ?? "").map((who) => `Ask ${who.replace(/^(?:the|your)\s+/i, "")} to ${all[2]}`)
    : undefined;
}

/** "delegate this to bob and that to ann" */
function readEach(instruction: string, known: readonly string[]): string[] | undefined {
  if (known.length < 2) return undefined;
  const name = nameOf(known);
  const each = new RegExp(
    `^(.*\\bdelegate\\s+\\S.*?\\bto\\s+${name})\\s*,?\\s+and\\s+(\\S.*?\\bto\\s+${name})[.!]?$`,
    "i",
  ).exec(instruction);
  return each?.[1] && each[2] ? [each[1], `Delegate ${each[2]}`] : undefined;
}

interface Delegation {
  readonly who: string;
  readonly what: string;
}

function readDelegation(instruction: string, delegate: DelegateTool | undefined): Delegation | undefined {
  const known = delegate?.known ?? [];
  const isKnown = ({ who }: Delegation) => known.some((name) => name.toLowerCase() === who.toLowerCase());
  const [, before = "", who = "", after = ""] = TO.exec(instruction) ?? [];
  const given = { who, what: clean(after) || clean(before) };
  if (who && /\bdelegate\b/i.test(instruction))
    return NO_NAME.test(who) && !isKnown(given) ? toAny(given.what, known) : given;
  const mentioned = known.filter((name) => instruction.toLowerCase().includes(name.toLowerCase()));
  const [, asked = "", wish = ""] = (mentioned.length > 0 && askOf(mentioned).exec(instruction)) || [];
  const [, plain, marked = "", task = ""] = CALLED.exec(instruction) ?? [];
  const named = [given, { who: asked, what: clean(wish) }, { who: plain ?? marked, what: clean(task) }].find(isKnown);
  return named ?? toAnyone(instruction, known);
}

function toAnyone(instruction: string, known: readonly string[]): Delegation | undefined {
  const task = ANYONE.exec(instruction)?.[1];
  return task ? toAny(clean(task), known) : undefined;
}

function toAny(what: string, known: readonly string[]): Delegation | undefined {
  const who = known.find((name) => /general/i.test(name)) ?? known[0];
  return who === undefined ? undefined : { who, what };
}

/** "that lists the files": what it is to do. */
const THAT_DOES = new RegExp(
  `^\\s*(?:that|which|who)\\s+(?:(?:will|can|should|shall|must|could)\\s+)?(${IMPERATIVE})(?:e?s)?\\s+`,
  "i",
);

function clean(task: string): string {
  return unquote(
    dropEnd(
      task
        .replace(THAT_DOES, (_, verb: string) => `${verb} `)
        .replace(/^[\s,:]+|^on\s+(?:it|this)\b[\s:]*|^(?:this|the following|the task(?: of)?|it)\b[\s:]*/i, ""),
    ),
  );
}
