import { asksAbout } from "../negation.ts";
import type { Intent } from "../step.ts";
import { runCommand } from "./command-intent.ts";

/** Questions about the machine that a program answers. */
const FACTS: readonly (readonly [RegExp, string])[] = [
  [
    /^\s*(?:what(?:['’]?s|\s+is)|tell me|show me)\s+(?:the\s+)?(?:today['’]s\s+|current\s+)?(?:date|time|day)(?:\s+and\s+time)?(?:\s+(?:today|now|right now|is it))?\s*[?.!]*$/i,
    "date",
  ],
  [/^\s*what\s+(?:day|date|time)\s+is\s+(?:it|today)(?:\s+(?:today|now))?\s*[?.!]*$/i, "date"],
  [
    /^\s*(?:what(?:['’]?s|\s+is)|tell me|show me|print)\s+(?:the|my|your|our)\s+(?:current\s+|present\s+)?working\s+(?:directory|folder|dir)\s*[?.!]*$|^\s*(?:where am i|which (?:directory|folder) (?:am i|are (?:we|you)) in)\s*[?.!]*$/i,
    "pwd",
  ],
];

/** Where an own tool tells the time, it was meant. */
const CLOCK = /^(?:date|time|clock)$/;

export const machineFactIntent: Intent = (instruction, turn) => {
  const command = asksAbout(instruction) ? undefined : FACTS.find(([form]) => form.test(instruction))?.[1];
  const hasClock = turn.tools.some(({ words }) => words.some((word) => CLOCK.test(word)));
  return command === undefined || (command === "date" && hasClock) ? undefined : runCommand(command, turn);
};
