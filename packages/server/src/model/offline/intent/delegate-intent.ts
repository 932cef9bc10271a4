import { fillObject } from "../fill-object.ts";
import { dropEnd, literal, unquote } from "../phrase.ts";
import { callTool, type Intent, say } from "../step.ts";
import { type DelegateTool, findDelegateTool } from "../subagents.ts";

const NAME = "[\"'`@]?([\\w-]+)[\"'`]?";
const AGENT = "(?:\\s+(?:sub-?agent|agent))?";
const TO = new RegExp(
  `\\b(?:delegate|hand(?: over| off)?|pass|assign|give|forward|send|outsource)\\b([\\s\\S]*?)\\s*\\bto\\s+(?:the\\s+|your\\s+|a\\s+)?(?:sub-?agent\\s+|agent\\s+)?${NAME}${AGENT}(?:\\s*[:,–—-]\\s*|\\s+(?:to|the task of|the task to|and (?:ask|tell) it to|that it should)\\s+|\\s*)([\\s\\S]*)$`,
  "i",
);
const askOf = (names: readonly string[]) =>
  new RegExp(
    `\\b(?:ask|have|let|get|tell|use|instruct|via|call|start|launch|spawn)\\s+(?:the\\s+|your\\s+|a\\s+)?(?:sub-?agent\\s+|agent\\s+)?["'\`@]?(${names.map(literal).join("|")})["'\`]?${AGENT}\\s*(?:[:,]\\s*|\\s+)(?:to\\s+|for\\s+)?([\\s\\S]+)$`,
    "i",
  );

/** "researcher: find the license", "@researcher find the license". */
const CALLED = /^\s*(?:([\w-]+)\s*[:,]|@([\w-]+)[:,]?)\s+([\s\S]+)$/;
/** To any of them. */
const ANYONE =
  /\b(?:(?:use|ask|have|let|get|start|launch|spawn)\s+(?:an?|one of (?:the|your)|some|another)\s+(?:sub-?agents?|agents?|helper)(?:\s+to|\s+and have it|:)?|delegate(?:\s+this)?\s*:)\s+([\s\S]+)$/i;

/** Work for a subagent that is named. */
export const delegateIntent: Intent = (instruction, turn) => {
  const delegate = findDelegateTool(turn);
  const wanted = readDelegation(instruction, delegate);
  if (!wanted) return undefined;
  if (!delegate) return say(`I can't delegate to "${wanted.who}": I have no subagents here.`);
  const who = delegate.known.find((name) => name.toLowerCase() === wanted.who.toLowerCase()) ?? wanted.who;
  const args = { [delegate.who]: who, [delegate.what]: wanted.what };
  return callTool(delegate.tool, fillObject(delegate.tool.schema, "", "", turn, args));
};

interface Delegation {
  readonly who: string;
  readonly what: string;
}

function readDelegation(instruction: string, delegate: DelegateTool | undefined): Delegation | undefined {
  const known = delegate?.known ?? [];
  const isKnown = ({ who }: Delegation) => known.some((name) => name.toLowerCase() === who.toLowerCase());
  const [, before = "", who = "", after = ""] = TO.exec(instruction) ?? [];
  const given = { who, what: clean(after) || clean(before) };
  if (who && /\bdelegate\b/i.test(instruction)) return given;
  const mentioned = known.filter((name) => instruction.toLowerCase().includes(name.toLowerCase()));
  const [, asked = "", wish = ""] = (mentioned.length > 0 && askOf(mentioned).exec(instruction)) || [];
  const [, plain, marked = "", task = ""] = CALLED.exec(instruction) ?? [];
  const named = [given, { who: asked, what: clean(wish) }, { who: plain ?? marked, what: clean(task) }].find(isKnown);
  return named ?? toAnyone(instruction, known);
}

function toAnyone(instruction: string, known: readonly string[]): Delegation | undefined {
  const task = ANYONE.exec(instruction)?.[1];
  const who = known.find((name) => /general/i.test(name)) ?? known[0];
  return task && who ? { who, what: clean(task) } : undefined;
}

function clean(task: string): string {
  return unquote(dropEnd(task.replace(/^[\s,:]+|^(?:this|the following|the task(?: of)?|it)\b[\s:]*/i, "")));
}
