import { numbersIn } from "../coerce-value.ts";
import { dropEnd, mask, quotedParts, unquote } from "../phrase.ts";
import { isReplyRule } from "../reply-rules.ts";
import { type Intent, say } from "../step.ts";
import { readTimes } from "../times.ts";
import { calculate } from "./arithmetic.ts";

const SAY =
  /^(?:please\s+)?(?:just\s+)?(?:say|repeat|echo|reply with|answer with|respond with|print|output|write back|tell me|(?:answer|reply|respond)(?=:?\s*["'“`]))(?:\s+|\s*:\s*)(?:(?:only|exactly|just|simply|back|after me|nothing (?:else )?but|(?:in |with )?(?:only |just )?(?:one|a single) word(?=\s*:))\b\s*:?\s*)*(?:the\s+(?:(?:single|one|exact)\s+)?(?:word|words|number|text|string|phrase|sentence|following)\s*)?(?:exactly\s*(?=:))?:?\s*([\s\S]+)$/i;
/** Said of the words, and none of them. */
const NO_MORE = /(?:,?\s+(?:and|but)\s+nothing\s+(?:else|more)|,?\s+only|,\s*nothing\s+(?:else|more))\s*[.!]?$/i;
const COUNT = /\bcount\s+(?:slowly\s+)?(?:from\s+(-?\d+|\w+)\s+)?(?:(?:up|down)\s+)?to\s+(-?\d+|\w+)/i;
const MAX_COUNT = 1_000;

/** Things that need no tool: repeating words, counting, a sum of two numbers, a greeting, a fact to be kept in mind. */
export const plainAnswer: Intent = (instruction) =>
  counted(instruction) ?? calculated(instruction) ?? spoken(instruction) ?? kept(instruction) ?? greeted(instruction);

function counted(instruction: string): ReturnType<Intent> {
  const found = COUNT.exec(instruction);
  if (!found) return undefined;
  const [to] = numbersIn(found[2] ?? "");
  const from = numbersIn(found[1] ?? "")[0] ?? 1;
  if (to === undefined || Math.abs(to - from) > MAX_COUNT) return undefined;
  const step = from <= to ? 1 : -1;
  return say(Array.from({ length: Math.abs(to - from) + 1 }, (_, at) => from + at * step).join(" "));
}

function calculated(instruction: string): ReturnType<Intent> {
  const isAsked = /\b(?:what|how much|calculate|compute|add|solve|evaluate)\b|[=?]|^[\s\d.()^%+*/×÷-]+$/i.test(
    instruction,
  );
  const sum = isAsked ? calculate(instruction) : undefined;
  return sum === undefined ? undefined : say(sum);
}

const CASE =
  /\s+in\s+(?:all\s+)?(?:(upper[\s-]?case|capitals|capital letters|all[\s-]caps|caps)|lower[\s-]?case|small letters)\s*[.!]?$/i;

function spoken(instruction: string): ReturnType<Intent> {
  const { order, times } = readTimes(instruction);
  const [cased, upper] = CASE.exec(order) ?? [];
  const words = wordsToSay(cased === undefined ? order : order.slice(0, -cased.length));
  if (words === undefined) return undefined;
  const said = cased === undefined ? words : upper ? words.toUpperCase() : words.toLowerCase();
  return say(Array.from({ length: times }, () => said).join(" "));
}

function wordsToSay(instruction: string): string | undefined {
  const words = SAY.exec(instruction)?.[1];
  if (!words || (/^tell me/i.test(instruction.trim()) && !/["'“:]/.test(instruction))) return undefined;
  const quoted = quotedParts(words);
  return quoted.length === 1 && mask(words).text.trim().startsWith("\uE000")
    ? (quoted[0] ?? "")
    : unquote(dropEnd(words.replace(NO_MORE, "")));
}

function kept(instruction: string): ReturnType<Intent> {
  const name = /^\s*(?:hi|hello|hey)?[,!.]?\s*(?:my name is|i am called|call me)\s+(\p{Lu}[\p{L}'-]*)/iu.exec(
    instruction,
  )?.[1];
  if (name) return say(`Nice to meet you, ${name}.`);
  const fact = /^\s*(?:please\s+)?(?:remember|note|keep in mind)(?:\s+(?:that|this))?:?\s+([\s\S]+)$/i.exec(
    instruction,
  )?.[1];
  if (fact) return say(`Noted: ${dropEnd(fact)}.`);
  return /^\s*(?:my|our|the)\s+[\p{L} ]+\s(?:is|are)\s+[^?]+$/iu.test(instruction)
    ? say(`Noted: ${dropEnd(instruction)}.`)
    : undefined;
}

function greeted(instruction: string): ReturnType<Intent> {
  if (/^\s*(?:thanks|thank you|thx|cheers)\b/i.test(instruction)) return say("You're welcome.");
  if (/^\s*(?:ok(?:ay)?,?\s+)?(?:bye(?:[ -]bye)?|goodbye|see you(?: later| soon)?|good night)\W*$/i.test(instruction))
    return say("Goodbye.");
  if (/^\s*(?:hi|hello|hey)?[,!.\s]*how are you(?: doing)?(?: today)?\W*$/i.test(instruction))
    return say("I am well, thank you.");
  if (isReplyRule(instruction)) return say("All right.");
  return undefined;
}
