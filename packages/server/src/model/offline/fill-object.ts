import { besideNames } from "./beside-name.ts";
import { coerceValue, numbersIn, readList } from "./coerce-value.ts";
import { fillText, type Source } from "./fill-text.ts";
import { readNamedValues } from "./named-values.ts";
import { requiredNames, type Schema, typeOf, wordsOf } from "./offline-tool.ts";
import { literal, mask, quotedParts } from "./phrase.ts";
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
  const args: Record<string, unknown> = { ...given };
  for (const [name, raw] of readNamedValues(text, Object.keys(properties), lists)) {
    if (!(name in args)) args[name] = readValue(name, raw, properties[name] ?? {}, turn);
  }
  const needed = requiredNames(schema);
  const unsaid = Object.entries(properties).filter(([name]) => !(name in args) && !needed.includes(name));
  const beside = besideNames(text, Object.fromEntries(unsaid));
  for (const { name, value } of beside) args[name] = value;
  const missing = needed.filter((name) => !(name in args));
  const used = new Set(Object.values(args).map(String));
  const source: Source = {
    text,
    rest: beside.reduce((left, { phrase }) => left.replace(phrase, ""), rest).trim(),
    turn,
    quotes: quotedParts(text).filter((part) => !used.has(part)),
    numbers: numbersIn(mask(text).text).filter((number) => !used.has(String(number))),
    wanted: missing.length,
    isOfNamed: Object.keys(properties).some((name) => /path|file|^name$|^title$/i.test(name)),
    optional: Object.keys(properties).filter((name) => !missing.includes(name) && !(name in args)),
    guessed: [],
  };
  for (const name of missing) args[name] = fillValue(name, properties[name] ?? {}, source);
  for (const [name, value] of Object.entries(source.found ?? {})) args[name] ??= value;
  return { args, guessed: source.guessed };
}

/** An object in an object is only known where its own members were named. */
function isObjectGuess(schema: Schema, text: string): boolean {
  const needed = typeOf(schema) === "object" ? requiredNames(schema) : [];
  return readNamedValues(text, needed).size < needed.length;
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
  const word = wordsOf(name).at(-1) ?? name;
  const near = new RegExp(
    `(-?\\d+(?:\\.\\d+)?)\\s+${word}|\\b${word}\\w*\\s+(?:of\\s+|to\\s+)?(-?\\d+(?:\\.\\d+)?)`,
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
  return readList(source.rest.split(/:\s/).at(-1) ?? source.rest).map((item) => coerceValue(item, items));
}
