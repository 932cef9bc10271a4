import { wordsOf } from "./offline-tool.ts";
import { mask } from "./phrase.ts";

/** Values that a text gives by name: `city=Paris`, `city: "Paris"`, `limit is 3`, `with city Paris and days 3`. */
export function readNamedValues(
  text: string,
  names: readonly string[],
  lists: ReadonlySet<string> = new Set(),
): Map<string, string> {
  const { text: masked, reveal } = mask(text);
  const marks = names.flatMap((name) => marksOf(name, masked)).sort((a, b) => a.from - b.from);
  const values = new Map<string, string>();
  for (const [index, mark] of marks.entries()) {
    if (values.has(mark.name)) continue;
    const raw = masked.slice(mark.to, marks[index + 1]?.from ?? masked.length);
    const value = reveal(trim(mark.isSpoken ? beforeNames(raw, names) : raw, mark, lists));
    if (value !== "") values.set(mark.name, value);
  }
  return values;
}

/** "named report with type scratch" */
function beforeNames(raw: string, names: readonly string[]): string {
  const words = names.flatMap((name) => [wordsOf(name).join("[\\s_-]?"), wordsOf(name).at(-1) ?? name]);
  return raw.split(new RegExp(`,?\\s+(?:with|and|of)\\s+(?:an?\\s+|the\\s+)?(?:${words.join("|")})\\b`, "i"))[0] ?? "";
}

/** What a name that is told in a sentence ends at: "a report named plan containing …". */
const AFTER_NAME = /:\s|\s+(?:containing|saying|that says|with (?:the |this )?(?:contents?|text|words?|body))\b/;

interface Mark {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** By "named" rather than by a sign. */
  readonly isSpoken: boolean;
}

function marksOf(name: string, masked: string): Mark[] {
  const words = wordsOf(name).join("[\\s_-]?");
  if (words === "") return [];
  const pattern = new RegExp(
    `(?<![\\w.-])["'\`]?${words}["'\`]?\\s*(?:=|:(?!/)|\\s(?:is|set to|equals|equal to|being)\\s)\\s*`,
    "gi",
  );
  // "with title Crash and labels bug": a name after such a word needs no sign.
  const paired = new RegExp(
    `(?<=\\b(?:with|and)\\s+(?:the\\s+|an?\\s+)?|,\\s+)${words}\\s+(?:of\\s+)?(?=[^\\s=:])(?!(?:is|set to|equals|equal to|being|and|with)\\s)`,
    "gi",
  );
  const spoken = /^(?:name|title)$/i.test(name) ? masked.matchAll(/\b(?:named|called|titled)\s+/gi) : [];
  const mark = (match: RegExpExecArray, isSpoken: boolean) => ({
    name,
    from: match.index,
    to: match.index + match[0].length,
    isSpoken,
  });
  return [
    ...[...masked.matchAll(pattern), ...masked.matchAll(paired)].map((match) => mark(match, false)),
    ...[...spoken].map((match) => mark(match, true)),
  ];
}

function trimList(raw: string): string {
  return (
    /^\s*\[[^\]]*\]/.exec(raw)?.[0] ??
    raw.split(
      /;|\.(?:\s|$)|,?\s+and\s+(?=(?:assign|set|mark|give|make|put|send|then)\b)|(?<=\S\s*)\n(?!\s*(?:[-*•]|\d+[.)]))/,
    )[0] ??
    ""
  );
}

/** What is written to people has commas in it. */
const PROSE =
  /^(?:.*_)?(?:message|text|content|body|description|prompt|instructions?|comment|note|sentence|question)$/i;
/** "Rome, Paris and Oslo" are several values, none of which is to be lost. */
const SEVERAL = /^\s*[\p{L}\p{N}' -]+(?:,\s*[\p{L}\p{N}' -]+)+,?\s+and\s+[\p{L}\p{N}'-]+\s*[.!?]?\s*$/u;

function trim(raw: string, { name, isSpoken }: Mark, lists: ReadonlySet<string>): string {
  if (lists.has(name)) return trimList(raw);
  const said = isSpoken ? (raw.split(AFTER_NAME)[0] ?? "") : raw;
  if (PROSE.test(name) && !/^\s*[\uE000[]/.test(said)) return trimProse(said);
  return SEVERAL.test(said) ? said.trim() : trimValue(said);
}

function trimProse(raw: string): string {
  return raw
    .replace(/\s*(?:[,;]|,?\s+(?:and|with|&|plus)(?:\s+(?:the|an?|its))?)\s*$/i, "")
    .replace(/,\s*please[.!]?$/i, "")
    .trim();
}

function trimValue(raw: string): string {
  const hidden = /^\s*\uE000\d+\uE001/.exec(raw);
  if (hidden) return hidden[0].trim();
  const list = /^\s*\[[^\]]*\]/.exec(raw);
  if (list) return list[0].trim();
  return (raw.split(/,(?!\d{3}(?!\d))|[;\n]|\.(?:\s|$)|\s+(?:in order )?to (?=\w+ )|\s+(?=[a-z]\w*=)/)[0] ?? "")
    .replace(/\s+(?:and|with|&|plus)(?:\s+(?:the|an?|its))?\s*$/i, "")
    .trim();
}
