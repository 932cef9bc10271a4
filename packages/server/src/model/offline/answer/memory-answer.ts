import { findTool } from "../find-tool.ts";
import { dropEnd } from "../phrase.ts";
import { callTool, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";

const FIRST =
  /\bwhat\b.*\b(?:did i|have i|i)\b.*\b(?:say|said|ask|asked|write|wrote|tell|told|message)\b.*\bfirst\b|\bmy (?:very )?first (?:message|question|request)\b|\bwhat was the first thing i\b/i;
const LAST =
  /\bwhat\b.*\b(?:did i|have i)\b.*\b(?:just|before|last|previously|earlier)\b|\bmy (?:last|previous) (?:message|question|request)\b/i;
const EVERYTHING = /\bwhat (?:did i|have i) (?:say|said|tell|told|ask|asked)(?: you)?(?: so far)?\s*\??$/i;
const REMEMBERED =
  /\b(?:what|anything|everything)\b.*\byou\s+(?:remember|recall|know|have remembered)(?:\s+(?:about|of|from)\s+([\s\S]+?))?\s*[?.!]*$/i;
const WHAT_IS =
  /\b(?:what(?:'s| is| are| was)|who(?:'s| is)|tell me|do you (?:know|remember)|remind me(?: of)?|say)\s+(?:again\s+)?(?:what\s+)?(my|the|our|your)\s+([\p{L}\p{N}' -]+?)(?:\s+is|\s+was|\s+are)?\s*[?.!]*$/iu;

/** What was said before in this conversation, or written into the system prompt. */
export const memoryAnswer: Intent = (instruction, turn) => {
  const { earlier } = turn;
  if (FIRST.test(instruction))
    return say(earlier[0] === undefined ? "This is the first thing you said." : `You first said: "${earlier[0]}"`);
  if (LAST.test(instruction))
    return say(earlier.length === 0 ? "You said nothing before this." : `Before this you said: "${earlier.at(-1)}"`);
  const remembered = REMEMBERED.exec(instruction);
  const recalled = remembered ? lookUp(remembered[1]?.replace(/^(?:me|us)$/i, "") ?? "", turn) : undefined;
  if (recalled) return recalled;
  if (remembered || EVERYTHING.test(instruction)) {
    return say(
      earlier.length === 0
        ? "You said nothing before this."
        : `You said:\n${earlier.map((text) => `- ${text}`).join("\n")}`,
    );
  }
  return recall(instruction, turn);
};

function recall(instruction: string, turn: Turn): ReturnType<Intent> {
  const asked = WHAT_IS.exec(instruction);
  const whose = asked?.[1]?.toLowerCase();
  const thing = asked?.[2]?.trim();
  if (!whose || !thing) return undefined;
  if (whose === "your") return yourOwn(thing, turn);
  const value = [...turn.earlier]
    .reverse()
    .map((text) => findFact(text, whose, thing))
    .find((found) => found !== undefined);
  const known = value ?? findFact(turn.system, whose, thing);
  if (known !== undefined) return say(`${whose === "my" ? "Your" : "The"} ${thing} is ${known}.`);
  const isMine = whose === "my";
  const isMemory = /\bremember\b|\brecall\b/i.test(instruction);
  return (
    ((isMine || isMemory) && lookUp(thing, turn)) || (isMine ? say(`You have not told me your ${thing}.`) : undefined)
  );
}

/** In what outlives the conversation, where there is a tool for that. */
function lookUp(about: string, { tools }: Turn): Step[] | undefined {
  const tool = findTool(tools, "recall");
  const query = Object.keys(tool?.schema.properties ?? {}).find((name) => /query|text|search|question/i.test(name));
  return tool && callTool(tool, query && about ? { [query]: about } : {});
}

function yourOwn(thing: string, { system }: Turn): ReturnType<Intent> {
  if (!/^name$/i.test(thing)) return undefined;
  const name = ownName(system);
  return say(name ? `My name is ${name}.` : "I am Cognition's offline model.");
}

/** The one that the system prompt gives it. */
export function ownName(system: string): string | undefined {
  const name = "\\p{Lu}[\\p{L}\\p{N}'-]*(?:\\s\\p{Lu}[\\p{L}'-]*)*";
  return (
    new RegExp(`\\b[Yy]our name is\\s+["'“]?(${name}|[\\p{L}\\p{N}-]+)`, "u").exec(system)?.[1] ??
    new RegExp(`\\b[Yy]ou are (?:called |named )?["'“]?(${name})`, "u").exec(system)?.[1]
  );
}

function findFact(text: string, whose: string, thing: string): string | undefined {
  const words = thing.replace(/[^\p{L}\p{N}]+/gu, "[^\\p{L}\\p{N}]+");
  const fact = new RegExp(`\\b${whose}\\s+${words}\\s*(?:is|was|are|:|=)\\s*([^\\n.;!?]+(?:\\.\\d+)?)`, "iu").exec(
    text,
  )?.[1];
  if (fact)
    return dropEnd(
      fact.replace(/\s+(?:and|but|so)\s+(?:i|my|please|remember)\b[\s\S]*$/i, "").replace(/^["'“](.*)["'”]$/, "$1"),
    ).trim();
  if (whose !== "my" || !/^name$/i.test(thing)) return undefined;
  return /\b(?:call me|i am called|i'm called|i am|i'm|this is)\s+(\p{Lu}[\p{L}'-]*)/u.exec(
    text.replace(/^\s*I(?=['a ])/, "i").replace(/\bI(?= am|'m)/g, "i"),
  )?.[1];
}
