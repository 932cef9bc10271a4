import { type Schema, takesNull, typeOf } from "./offline-tool.ts";
import { dropEnd, unquote } from "./phrase.ts";

const NUMBER_WORDS = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];

/** A number as it may be said, as a pattern. */
export const NUMBER = `-?\\d+(?:\\.\\d+)?|${NUMBER_WORDS.join("|")}`;

function readNumber(text: string): number | undefined {
  const digits = /^[-+]?\d[\d_]*(\.\d+)?(e[-+]?\d+)?$/i.exec(text.trim().replaceAll(",", ""));
  if (digits) return Number(digits[0].replaceAll("_", ""));
  const word = NUMBER_WORDS.indexOf(text.trim().toLowerCase());
  return word === -1 ? undefined : word;
}

/** The numbers in a text, digits and words alike, in their order. */
export function numbersIn(text: string): number[] {
  const found = text.match(
    new RegExp(`(?<![\\w.])-?\\d+(?:\\.\\d+)?(?![\\w])|\\b(?:${NUMBER_WORDS.join("|")})\\b`, "gi"),
  );
  return (found ?? []).flatMap((part) => readNumber(part) ?? []);
}

/** Turns words into the type that a schema asks for; words that do not fit stay as they are, for the tool to refuse. */
export function coerceValue(raw: string, schema: Schema): unknown {
  const plain = unquote(dropEnd(raw));
  if (plain === "null" && takesNull(schema)) return null;
  switch (typeOf(schema)) {
    case "number":
    case "integer":
      return readNumber(plain) ?? numbersIn(plain)[0] ?? plain;
    case "boolean":
      return /^(true|yes|on|y|1|enabled)$/i.test(plain);
    case "enum":
      return schema.enum?.find((value) => String(value).toLowerCase() === plain.toLowerCase()) ?? plain;
    case "array":
      return readList(raw).map((item) => coerceValue(item, schema.items ?? {}));
    case "object":
      return parseJson(raw) ?? plain;
    default:
      return plain;
  }
}

/** `a, b and c`, `[a, b]`, or a numbered or dashed list. */
export function readList(raw: string): string[] {
  const json = parseJson(raw);
  if (Array.isArray(json)) return json.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  const lines = [
    ...raw.matchAll(/(?:^|\n|\s)(?:\d+[.)]|[-*•])\s+([^\n]+?)(?=\s+(?:\d+[.)]|(?<=^\s*[-*•]\s[^\n]*)[-*•])\s|\n|$)/g),
  ].map((match) => match[1] ?? "");
  const parts = lines.length > 0 ? lines : raw.replace(/^\[|\]$/g, "").split(/\s*,\s*(?:and\s+)?|\s+and\s+|;\s*/);
  return parts.map((part) => unquote(dropEnd(part))).filter(Boolean);
}

function parseJson(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    // Plain words.
    return undefined;
  }
}
