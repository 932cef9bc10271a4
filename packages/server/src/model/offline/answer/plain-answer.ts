import { numbersIn } from "../coerce-value.ts";
import { dropEnd, mask, quotedParts, unquote } from "../phrase.ts";
import { type Intent, say } from "../step.ts";

const SAY =
  /^(?:please\s+)?(?:just\s+)?(?:say|repeat|echo|reply with|answer with|respond with|print|output|write back|tell me)\s+(?:only\s+|exactly\s+|just\s+|back\s+|after me\b\s*)*(?:the\s+(?:word|words|text|phrase|sentence|following)\s*)?:?\s*([\s\S]+)$/i;
const COUNT = /\bcount\s+(?:slowly\s+)?(?:from\s+(-?\d+|\w+)\s+)?(?:up\s+)?to\s+(-?\d+|\w+)/i;
const SUM = /(-?\d+(?:\.\d+)?)\s*(\+|-|\*|x|×|\/|plus|minus|times|divided by|multiplied by)\s*(-?\d+(?:\.\d+)?)/i;
const MAX_COUNT = 1_000;

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  plus: (a, b) => a + b,
  "-": (a, b) => a - b,
  minus: (a, b) => a - b,
  "*": (a, b) => a * b,
  x: (a, b) => a * b,
  "×": (a, b) => a * b,
  times: (a, b) => a * b,
  "multiplied by": (a, b) => a * b,
  "/": (a, b) => a / b,
  "divided by": (a, b) => a / b,
};

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
  const found = SUM.exec(instruction);
  if (!found || !/\b(?:what|how much|calculate|compute|add|solve)\b|[=?]|^[\s\d.+*/×-]+$/i.test(instruction))
    return undefined;
  const [, a, sign, b] = found;
  const result = OPERATIONS[sign?.toLowerCase() ?? ""]?.(Number(a), Number(b));
  return result === undefined ? undefined : say(`${a} ${sign} ${b} = ${result}`);
}

function spoken(instruction: string): ReturnType<Intent> {
  const words = SAY.exec(instruction)?.[1];
  if (!words || (/^tell me/i.test(instruction.trim()) && !/["'“:]/.test(instruction))) return undefined;
  const quoted = quotedParts(words);
  return say(
    quoted.length === 1 && mask(words).text.trim().startsWith("\uE000") ? (quoted[0] ?? "") : unquote(dropEnd(words)),
  );
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
  if (/^\s*(?:thanks|thank you|thx)\b/i.test(instruction)) return say("You're welcome.");
  return undefined;
}
