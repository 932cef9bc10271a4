import { NUMBER, numbersIn } from "./coerce-value.ts";

/** Lines of a file, counted from 1; below zero, from its end. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const NTH = `(?:(\\d+)(?:st|nd|rd|th)|(${ORDINALS.join("|")}|last))`;
const TO = "\\s*(?:to|through|until|till|and|[-–])\\s*";

const FORMS: readonly (readonly [RegExp, (found: RegExpExecArray) => LineRange])[] = [
  [
    new RegExp(`\\blines?\\s+(\\d+)${TO}(?:line\\s+)?(\\d+)\\b`, "i"),
    ([, from = "", to = ""]) => ({ first: Number(from), last: Number(to) }),
  ],
  [
    /\bfrom\s+line\s+(\d+)(?:\s+(?:on(?:wards?)?|to\s+the\s+end|down))?/i,
    ([, from = ""]) => ({ first: Number(from), last: -1 }),
  ],
  [/\b(?:up\s+to|until|till)\s+line\s+(\d+)\b/i, ([, to = ""]) => ({ first: 1, last: Number(to) })],
  [/\bline\s+(?:number\s+|no\.?\s+)?(\d+)\b/i, ([, at = ""]) => ({ first: Number(at), last: Number(at) })],
  [
    new RegExp(`\\b(first|last|top|bottom|final)\\s+(${NUMBER})\\s+lines\\b`, "i"),
    ([, end = "", said = ""]) => countedFrom(end, numbersIn(said)[0] ?? 1),
  ],
  [
    new RegExp(`\\b${NTH}\\s+line\\b`, "i"),
    ([, digits, word = ""]) => {
      const at = digits ? Number(digits) : /last/i.test(word) ? -1 : ORDINALS.indexOf(word.toLowerCase()) + 1;
      return { first: at, last: at };
    },
  ],
];

function countedFrom(end: string, count: number): LineRange {
  return /first|top/i.test(end) ? { first: 1, last: count } : { first: -count, last: -1 };
}

/** How a range of lines is spoken of, as a pattern. */
export const LINES = `(?:the\\s+)?(?:very\\s+)?(?:${FORMS.map(([form]) => form.source.replace(/\((?!\?)/g, "(?:")).join("|")})`;

/** "lines 2 to 3", "the second line", "the last two lines" */
export function findLines(text: string): LineRange | undefined {
  for (const [form, read] of FORMS) {
    const found = form.exec(text);
    if (found) return read(found);
  }
  return undefined;
}

/** Where the range is among so many lines, counted from 0; undefined where the file is shorter. */
export function placeLines({ first, last }: LineRange, count: number): { at: number; length: number } | undefined {
  const at = first < 0 ? count + first : first - 1;
  const end = last < 0 ? count + last : last - 1;
  return at < 0 || end >= count || end < at ? undefined : { at, length: end - at + 1 };
}
