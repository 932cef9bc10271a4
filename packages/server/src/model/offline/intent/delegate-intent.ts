import { fillObject } from "../fill-object.ts";
import { dropEnd, unquote } from "../phrase.ts";
import { callTool, type Intent, say } from "../step.ts";
import { type DelegateTool, findDelegateTool } from "../subagents.ts";

const NAME = "[\"'`@]?([\\w-]+)[\"'`]?";
const AGENT = "(?:\\s+(?:sub-?agent|agent))?";
const TO = new RegExp(
  `\\b(?:delegate|hand(?: over| off)?|pass|assign|give|forward|send|outsource)\\b([\\s\\S]*?)\\s*\\bto\\s+(?:the\\s+|your\\s+|a\\s+)?(?:sub-?agent\\s+|agent\\s+)?${NAME}${AGENT}\\s*(?:[:,–—-]\\s*|\\s+(?:to|the task of|the task to|and ask it to|that it should)\\s+)?([\\s\\S]*)$`,
  "i",
);
const ASK = new RegExp(
  `\\b(?:ask|have|let|get|tell|use|instruct|via|call|start|launch|spawn)\\s+(?:the\\s+|your\\s+|a\\s+)?(?:sub-?agent\\s+|agent\\s+)?${NAME}${AGENT}\\s*(?:[:,]\\s*|\\s+)(?:to\\s+|for\\s+)?([\\s\\S]+)$`,
  "i",
);

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

function readDelegation(
  instruction: string,
  delegate: DelegateTool | undefined,
): { who: string; what: string } | undefined {
  const to = TO.exec(instruction);
  const isKnown = (name: string) =>
    delegate?.known.some((known) => known.toLowerCase() === name.toLowerCase()) ?? false;
  if (to?.[2] && (/\bdelegate\b/i.test(instruction) || isKnown(to[2]))) {
    return { who: to[2], what: clean(to[3]?.trim() ? to[3] : (to[1] ?? "")) };
  }
  const ask = ASK.exec(instruction);
  return ask?.[1] && isKnown(ask[1]) ? { who: ask[1], what: clean(ask[2] ?? "") } : undefined;
}

function clean(task: string): string {
  return unquote(dropEnd(task.replace(/^[\s,:]+|^(?:this|the following|the task(?: of)?|it)\b[\s:]*/i, "")));
}
