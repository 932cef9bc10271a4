import { besideNames } from "./beside-name.ts";
import { coerceValue, numbersIn, readList } from "./coerce-value.ts";
import { E_MAIL, fillText, type Source } from "./fill-text.ts";
import { readNamedValues } from "./named-values.ts";
import { requiredNames, type Schema, typeOf, wordsOf } from "./offline-tool.ts";
import { literal, mask, QUOTED, quotedParts } from "./phrase.ts";
import type { Turn } from "./turn.ts";
import { toToolPath } from "./workspace-path.ts";

export interface Filled {
  readonly args: Record<string, unknown>;
  /** Those of the required ones that no word was found for: their values are as good as any. */
  readonly guessed: readonly string[];
}

/** Fills an object by its schema: what is given by name, then what is required and can be found in the words. */
export function fillObject(...told: Parameters<typeof fillKnown>): Record<string, unknown> {
  return fillKnown(...told).args;
}

export function fillKnown(
  schema: Schema,
  text: string,
  rest: string,
  turn: Turn,
  given: Record<string, unknown> = {},
): Filled {
  const properties = schema.properties ?? {};
  const lists = new Set(Object.keys(properties).filter((name) => typeOf(properties[name] ?? {}) === "array"));
  const args = { ...namedValues(properties, text, lists, turn, given) };
  const needed = requiredNames(schema);
  const unsaid = Object.entries(properties).filter(([name]) => !(name in args) && !needed.includes(name));
  const beside = besideNames(text, Object.fromEntries(unsaid));
  for (const { name, value } of beside) args[name] = value;
  const missing = needed.filter((name) => !(name in args));
  const stray = missing.length === 1 ? strayValue(text, Object.keys(properties)) : undefined;
  const last = stray === undefined ? undefined : missing.pop();
  if (stray !== undefined && last) args[last] = readValue(last, stray, properties[last] ?? {}, turn);
  const used = new Set(Object.values(args).map(String));
  const source: Source = {
    text,
    rest: beside
      .reduce((left, { phrase }) => left.replace(phrase, ""), rest)
      .replace(/(?:[\s,;]+please)?[\s,;]*$/i, "")
      .trim(),
    turn,
    quotes: quotedParts(text).filter((part) => !used.has(part)),
    numbers: numbersIn(mask(text).text.replace(new RegExp(QUOTED, "g"), " ")).filter(
      (number) => !used.has(String(number)),
    ),
    wanted: missing.length,
    isOfNamed: Object.keys(properties).some((name) => /path|file|^name$|^title$/i.test(name)),
    optional: Object.keys(properties).filter((name) => !missing.includes(name) && !(name in args)),
    isAnswer: rest !== "" && text.startsWith(rest),
    guessed: [],
  };
  for (const name of missing) args[name] = fillValue(name, properties[name] ?? {}, source);
  for (const [name, value] of Object.entries(source.found ?? {})) args[name] ??= value;
  return { args, guessed: source.guessed };
}

function namedValues(
  properties: Readonly<Record<string, Schema>>,
  text: string,
  lists: ReadonlySet<string>,
  turn: Turn,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const args = { ...given };
  for (const [name, raw] of readNamedValues(text, Object.keys(properties), lists)) {
    const value = readValue(name, raw, properties[name] ?? {}, turn);
    // An object that is told in words is told by its members.
    const isTold = typeOf(properties[name] ?? {}) !== "object" || typeof value === "object";
    if (!(name in args) && isTold) args[name] = value;
  }
  return args;
}

/** "key=tea value=green", where the second is called something else: with one value left out there is one that it can be. */
function strayValue(text: string, names: readonly string[]): string | undefined {
  const { text: masked, reveal } = mask(text);
  const [stray, ...others] = [...masked.matchAll(/(?<=^|[\s:,])([a-z]\w*)=(\uE000\d+\uE001|[^\s,;=]+)/gi)].filter(
    ([, name = ""]) => !names.includes(name),
  );
  return others.length > 0 ? undefined : stray?.[2] && reveal(stray[2]);
}

/** An object in an object is only known where its own members were named. */
function isObjectGuess(schema: Schema, text: string): boolean {
  const needed = typeOf(schema) === "object" ? requiredNames(schema) : [];
  return needed.some((name) => !new RegExp(`\\b${wordsOf(name).join("[\\s_-]?")}\\b`, "i").test(text));
}

function readValue(name: string, raw: string, schema: Schema, turn: Turn): unknown {
  const value = coerceValue(raw, schema);
  return typeof value === "string" && /path/i.test(name) ? toToolPath(value, schema, turn) : value;
}

function fillValue(name: string, schema: Schema, source: Source): unknown {
  const value = byType(name, schema, source);
  if (isGuess(name, schema, value, source)) source.guessed.push(name);
  source.wanted--;
  return value ?? placeholder(schema);
}

/** Undefined, where a number or a word of a list is wanted and none was said. */
function byType(name: string, schema: Schema, source: Source): unknown {
  switch (typeOf(schema)) {
    case "const":
      return schema.const;
    case "enum":
      return saidMember(schema, source.text);
    case "boolean":
      return !new RegExp(
        `\\b(no|not|without|don't|do not|never|disable|off)\\b[^.]*\\b${wordsOf(name).join(".?")}`,
        "i",
      ).test(source.text);
    case "number":
    case "integer":
      return takeNumber(name, source);
    case "array":
      return fillList(schema, source);
    case "object":
      return fillObject(schema, source.text, source.rest, source.turn);
    default:
      return fillText(name, schema, source);
  }
}

function isGuess(name: string, schema: Schema, value: unknown, { text }: Source): boolean {
  if (value === undefined || value === "") return true;
  switch (typeOf(schema)) {
    case "boolean":
      return !new RegExp(`\\b${wordsOf(name).join(".?")}`, "i").test(text);
    case "array":
      return Array.isArray(value) && (value.length === 0 || isObjectGuess(schema.items ?? {}, text));
    default:
      return isObjectGuess(schema, text);
  }
}

function placeholder(schema: Schema): unknown {
  return typeOf(schema) === "enum" ? schema.enum?.[0] : (schema.minimum ?? 0);
}

function saidMember(schema: Schema, text: string): unknown {
  return schema.enum?.find((value) =>
    new RegExp(`(?<!\\w)${String(value).replace(/[^\w]/g, ".")}(?!\\w)`, "i").test(text),
  );
}

/** A number that was taken is no part of a text beside it: "convert 100 USD to EUR". */
function takeNumber(name: string, source: Source): number | undefined {
  const number = nearNumber(name, source) ?? source.numbers.shift();
  if (number !== undefined)
    source.rest = source.rest.replace(new RegExp(`^${literal(String(number))}\\s+(?=\\p{L})`, "u"), "");
  return number;
}

function nearNumber(name: string, { text, numbers }: Pick<Source, "text" | "numbers">): number | undefined {
  // "duration 60" and "60 minutes" both are a duration in minutes.
  const word = `(?:${wordsOf(name)
    .map((part) => part.replace(/(?<=\w{2})s$/, ""))
    .join("|")})`;
  const near = new RegExp(
    `(?<![\\w.-])(-?\\d+(?:\\.\\d+)?)[\\s-]+${word}s?\\b|\\b${word}\\w*\\s+(?:of\\s+|to\\s+)?(-?\\d+(?:\\.\\d+)?)`,
    "i",
  ).exec(text);
  const value = near?.[1] ?? near?.[2];
  if (value === undefined) return undefined;
  const at = numbers.indexOf(Number(value));
  if (at !== -1) numbers.splice(at, 1);
  return Number(value);
}

function fillList(schema: Schema, source: Source): unknown[] {
  const items = schema.items ?? {};
  const type = typeOf(items);
  if (type === "number" || type === "integer") return source.numbers.splice(0);
  if (type === "object") return [fillObject(items, source.text, source.rest, source.turn)];
  if (source.quotes.length > 0) return source.quotes.splice(0);
  const addresses = source.rest.match(E_MAIL) ?? [];
  if (type === "string" && addresses.length > 0) return addresses;
  return readList(source.rest.split(/:\s/).at(-1) ?? source.rest).map((item) => coerceValue(item, items));
}
