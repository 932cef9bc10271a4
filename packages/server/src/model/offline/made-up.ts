import { NUMBER } from "./coerce-value.ts";
import { quotedParts } from "./phrase.ts";

/** What somebody would have to think of or look up; its words are not its text. */
const TO_BE_MADE_UP = new RegExp(
  "^(?:its|their|the)\\s+contents?$" +
    "|^(?:something|anything)\\b" +
    "|^(?:an?|some|the)\\s+(?:\\w+\\s+){0,2}(?:haiku|poem|story|essay|joke|song|letter|e-?mail|function|script|program|class|tests?|summary|report|description|explanation|list of|documentation|output of|result of|heading|header|section|chapter|docstring)\\b" +
    "|^(?:some\\s+|the\\s+)?(?:\\w+\\s+)?code\\s+(?:that|which|to|for)\\b" +
    "|^(?:its|the)\\s+(?:first|last|second|third)\\s+(?:lines?|words?|paragraph|sentence)\\s+of\\b" +
    "|^(?:my|your|our|his|her|their)\\s+(?:own\\s+|full\\s+|first\\s+|last\\s+)?(?:name|address|age|birthday|favou?rite\\b.*)$" +
    "|^(?:today['’]s|the\\s+(?:current|present))\\s+(?:date|time|day|year)\\b|^the\\s+(?:date|time)(?:\\s+of\\s+today)?$" +
    "|^(?:some|random|any|dummy|placeholder)\\s+(?:random\\s+)?(?:text|words?|contents?|data|lines|numbers?|stuff)$" +
    `|^(?:a few|several|some|${NUMBER})\\s+(?:lines|words|paragraphs|sentences)(?:\\s*$|\\s*:|\\s+(?:of|about)\\b)`,
  "i",
);

/** "write me a poem" */
const FOR_WHOM = /^(?:me|us)\s+/i;

/** Whether a text only describes what is meant. What was put in quotes is meant as it stands. */
export function isMadeUp(text: string, instruction: string): boolean {
  return TO_BE_MADE_UP.test(text.replace(FOR_WHOM, "")) && !quotedParts(instruction).includes(text);
}
