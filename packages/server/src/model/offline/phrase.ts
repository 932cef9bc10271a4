/** Text whose quoted parts, code and JSON are hidden, so that a rule about words can't cut through them. */
export interface Masked {
  readonly text: string;
  reveal(part: string): string;
}

const FENCES = [/```[\w-]*\n?([\s\S]*?)```/g, /"""[\s\S]*?"""/g];
// An apostrophe inside a word ("don't") opens nothing.
const QUOTES = [
  /"(?:[^"\\]|\\.)*"/g,
  // What ends a quotation in German begins one in English.
  /„[^“”]*[“”]/g,
  /“[^”]*”/g,
  /«[^»]*»/g,
  /`[^`]+`/g,
  /(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu,
  /(?<![\p{L}\p{N}])‘[^‘\n]*?’(?![\p{L}\p{N}])/gu,
];

/** What a quotation begins and ends with, as the inside of a pattern's brackets. */
export const OPENING = "\"'`“„«‘";
export const CLOSING = "\"'`”“»’";

// Private-use characters: they are not letters, digits or spaces, and nobody types them.
const OPEN = "\uE000";
const CLOSE = "\uE001";

/** A hidden part, as a pattern. */
export const QUOTED = `${OPEN}\\d+${CLOSE}`;

/** What may stand before an order without changing it, as a pattern. */
export const POLITE =
  "(?:(?:please|pls|plz|kindly|ok(?:ay)?|well|so|hey|(?:may|might|can|could) i ask you to|now|first|then|finally|just|also|(?:can|could|would|will) you|i want you to|i'd like you to|go ahead and),?\\s+)*";

export function mask(text: string): Masked {
  const hidden: string[] = [];
  const hide = (part: string) => `${OPEN}${hidden.push(part) - 1}${CLOSE}`;
  let masked = FENCES.reduce((left, fence) => left.replace(fence, hide), text);
  for (const json of jsonObjects(masked)) masked = masked.replace(json, () => hide(json));
  for (const quote of QUOTES) masked = masked.replace(quote, hide);
  const reveal = (part: string): string => {
    const shown = part.replace(/\uE000(\d+)\uE001/g, (_, index) => hidden[Number(index)] ?? "");
    return shown.includes(OPEN) ? reveal(shown) : shown;
  };
  return { text: masked, reveal };
}

/** What stands between fences, where a text has just one such part. */
export function fencedPart(text: string): string | undefined {
  const [fenced, ...others] = FENCES.flatMap((fence) => text.match(fence) ?? []);
  return fenced === undefined || others.length > 0 ? undefined : unquote(fenced);
}

export function isFenced(part: string): boolean {
  return /^(?:```|""")/.test(part);
}

/** The quoted parts in their order, without their quotes. */
export function quotedParts(text: string): string[] {
  const { text: masked, reveal } = mask(text);
  const found = masked.match(/\uE000\d+\uE001/g) ?? [];
  return found
    .map(reveal)
    .filter((part) => !part.startsWith("{"))
    .map(unquote);
}

/** `"a" and "b"` begins and ends with a quote, and is not what one quotation holds. */
const SEVERAL_QUOTED = /^(["`])(?:(?!\1)[^\\]|\\.)*(?<=\S)\1(?=[\s,;])/;

export function unquote(text: string): string {
  const trimmed = text.trim();
  const fenced = /^```[\w-]*\n?([\s\S]*?)\n?```$/.exec(trimmed);
  if (fenced) return fenced[1] ?? "";
  const tripled = /^"""\n?([\s\S]*?)\n?"""$/.exec(trimmed);
  if (tripled) return tripled[1] ?? "";
  const quoted =
    /^(?:"([\s\S]*)"|'([\s\S]*)'|“([\s\S]*)”|„([\s\S]*)[“”]|«\s?([\s\S]*?)\s?»|‘([\s\S]*)’|`([\s\S]*)`)$/.exec(trimmed);
  if (!quoted || SEVERAL_QUOTED.test(trimmed)) return trimmed;
  const inner = quoted.slice(1).find((part) => part !== undefined) ?? "";
  return trimmed.startsWith('"') ? unescaped(inner) : inner;
}

/** A tab is told as such only beside a line's end: "C:\\temp" has none. */
function unescaped(text: string): string {
  const plain = text.replace(/\\(["\\])/g, "$1");
  return plain.includes("\\n") ? plain.replaceAll("\\n", "\n").replaceAll("\\t", "\t") : plain;
}

/** Without the full stop or the question mark that ends a sentence; those of "..." and of "a.txt" stay. */
export function dropEnd(text: string): string {
  return text.trim().replace(/(?<![.!?])[.!?]$/, "");
}

/** An open brace without its other half is looked for to the end of the text, so many of them would take minutes. */
const MAX_BRACES = 100;

/** The JSON objects in a text, outermost ones only. */
export function jsonObjects(text: string): string[] {
  const found: string[] = [];
  let tries = 0;
  for (let at = text.indexOf("{"); at !== -1 && tries++ < MAX_BRACES; at = text.indexOf("{", at + 1)) {
    const end = closingBrace(text, at);
    if (end === -1 || parseObject(text.slice(at, end + 1)) === undefined) continue;
    found.push(text.slice(at, end + 1));
    at = end;
  }
  return found;
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Not JSON: the braces were ordinary text.
    return undefined;
  }
}

/** A text as a part of a pattern that matches just it. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function closingBrace(text: string, from: number): number {
  // Strings are taken whole, so that a brace inside one does not count.
  const tokens = /"(?:[^"\\]|\\.)*"|[{}]/g;
  tokens.lastIndex = from;
  let depth = 0;
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    if (token[0] === "{") depth++;
    else if (token[0] === "}" && --depth === 0) return token.index;
  }
  return -1;
}
