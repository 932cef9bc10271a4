import { AppError, isAppError } from "@cognition/contract";
import { hasMembers, isBytesName } from "./bytes.ts";
import type { JsonValue } from "./json-value.ts";
import { DeltaSnapshot, Document, messageFields, messageName } from "./langchain-class.ts";
import { LONG_TEXT } from "./long-value.ts";

/**
 * Values become JSON in which an object with the member "$" says what it stands for: {"$":"date","v":"…"}. A plain
 * object that has such a member itself is wrapped. What is not listed here is refused, never approximated.
 */
export const TAG = "$";

/** A plain object as the list of its keys and values, one after the other. */
export const RECORD = "record";

/** May stand in for a value, or for a long text inside of one: gives its encoding, or undefined to let the ordinary one go on. */
export type Substitute = (value: object | string, depth: number, key: string) => JsonValue | undefined;

/** Beyond that the engine's stack might not suffice to read a value back, wherever that is asked for. */
const DEEPEST = 1_000;
const TOO_DEEP = `nested more than ${DEEPEST} levels deep`;

export function encodeValue(value: unknown, where: string, substitute?: Substitute): JsonValue {
  const encoder = new Encoder(where, substitute);
  try {
    return encoder.encode(value, 0);
  } catch (error) {
    throw error instanceof AppError ? error : encoder.refusalOfUnreadable(error);
  }
}

/** Refuses a list that is more than its elements, or that lies too deep. */
export function requirePlainList(list: readonly unknown[], where: string, depth: number): void {
  const what = depth < DEEPEST ? listFlaw(list) : TOO_DEEP;
  if (what) throw refusal({ where, path: "", what });
}

function listFlaw(list: readonly unknown[]): string | undefined {
  if (list.constructor?.name !== "Array") return `an instance of ${list.constructor?.name}`;
  const keys = Object.keys(list);
  // Places come first, in their order.
  const last = keys.at(-1);
  if (last !== undefined && String(Number(last) >>> 0) !== last) return "a list with members that have names";
  if (keys.length < list.length) return "a list with empty places";
  const [symbol] = Object.getOwnPropertySymbols(list);
  return symbol && `a list with the symbol member ${String(symbol)}`;
}

class Encoder {
  readonly #where: string;
  readonly #substitute: Substitute | undefined;
  readonly #path: (string | number)[] = [];
  readonly #open = new Set<object>();

  constructor(where: string, substitute: Substitute | undefined) {
    this.#where = where;
    this.#substitute = substitute;
  }

  /** Of the value it has come to: a getter, a proxy, or an object that only has the prototype of another. */
  refusalOfUnreadable(cause: unknown): AppError {
    const what = `not readable (${cause instanceof Error ? cause.message : String(cause)})`;
    return refusal({ where: this.#where, path: this.#pathText(), what }, cause);
  }

  encode(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0) ? value : { [TAG]: "number", v: numberName(value) };
      case "undefined":
        return { [TAG]: "undefined" };
      case "bigint":
        return { [TAG]: "bigint", v: value.toString() };
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return this.#refuse(`a ${typeof value}`);
    }
  }

  #object(value: object, depth: number): JsonValue {
    const stand = this.#substitute && this.#standIn(this.#substitute, value, depth);
    if (stand !== undefined) return stand;
    if (this.#open.has(value)) return this.#refuse("a reference to one of its own ancestors");
    if (this.#open.size === DEEPEST) return this.#refuse(TOO_DEEP);
    this.#open.add(value);
    const encoded = Array.isArray(value) ? this.#list(value, depth) : this.#instance(value, depth);
    this.#open.delete(value);
    return encoded;
  }

  #standIn(substitute: Substitute, value: object | string, depth: number): JsonValue | undefined {
    try {
      return substitute(value, depth, this.#lastKey());
    } catch (error) {
      throw refusedWithin(explained(error, value, this.#where), this.#pathText());
    }
  }

  #list(value: unknown[], depth: number): JsonValue {
    const flaw = listFlaw(value);
    if (flaw) this.#refuse(flaw);
    return this.#array(value, depth);
  }

  #array(value: unknown[], depth: number): JsonValue {
    const encoded: JsonValue[] = [];
    for (let i = 0; i < value.length; i++) encoded.push(this.#member(i, value[i], depth));
    return encoded;
  }

  #member(key: string | number, value: unknown, depth: number): JsonValue {
    if (typeof value === "string") {
      return (value.length > LONG_TEXT && this.#substitute?.(value, depth + 1, "")) || value;
    }
    this.#path.push(key);
    const encoded = this.encode(value, depth + 1);
    this.#path.pop();
    return encoded;
  }

  #members(value: Record<string, unknown>, depth: number): { [key: string]: JsonValue } {
    const encoded: { [key: string]: JsonValue } = {};
    for (const key of Object.keys(value)) {
      if (key === "__proto__") this.#refuse("an object with a member called __proto__");
      encoded[key] = this.#member(key, value[key], depth);
    }
    return encoded;
  }

  #instance(value: object, depth: number): JsonValue {
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) return this.#plain(value as Record<string, unknown>, depth);
    const message = messageName(value);
    if (message) return { [TAG]: "message", c: message, v: this.#members(messageFields(value), depth) };
    return this.#builtIn(value, depth) ?? this.#langGraph(value, depth) ?? this.#others(value, prototype, depth);
  }

  #plain(value: Record<string, unknown>, depth: number): JsonValue {
    this.#refuseSymbols(value);
    const members = this.#members(value, depth);
    return TAG in members ? { [TAG]: "object", v: members } : members;
  }

  #refuseSymbols(value: object): void {
    const [symbol] = Object.getOwnPropertySymbols(value);
    if (symbol) this.#refuse(`an object with the symbol member ${String(symbol)}`);
  }

  /** By their very class: one that is derived from it would come back as another. */
  #builtIn(value: object, depth: number): JsonValue | undefined {
    const { constructor: type } = value;
    if (value instanceof Error) return this.#error(value, depth);
    if (ArrayBuffer.isView(value) && isBytesName(type.name)) {
      if (hasMembers(value)) this.#refuse(`a ${type.name} with members of its own`);
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      return { [TAG]: "bytes", c: type.name, v: base64(bytes) };
    }
    return BARE.has(type) ? this.#bare(value, depth) : undefined;
  }

  /** Their value is inside them: members that someone gave them would be lost. */
  #bare(value: object, depth: number): JsonValue {
    const [name] = Reflect.ownKeys(value).filter((key) => key !== "lastIndex");
    if (name !== undefined) this.#refuse(`a ${value.constructor.name} with the member ${String(name)}`);
    if (value instanceof ArrayBuffer) return { [TAG]: "bytes", c: "ArrayBuffer", v: base64(new Uint8Array(value)) };
    if (value instanceof Date) return { [TAG]: "date", v: timeOf(value) };
    if (value instanceof Map) return { [TAG]: "map", v: this.#inner([...value].flat(1), depth) };
    if (value instanceof Set) return { [TAG]: "set", v: this.#inner([...value], depth) };
    if (value instanceof RegExp) return { [TAG]: "regexp", v: value.source, f: value.flags };
    return { [TAG]: "url", v: (value as URL).href };
  }

  #inner(list: unknown[], depth: number): JsonValue {
    const stand = this.#substitute && this.#standIn(this.#substitute, list, depth + 1);
    return stand ?? this.#array(list, depth);
  }

  #error(error: Error, depth: number): JsonValue {
    const { name, message, stack, cause } = error;
    for (const [key, text] of Object.entries({ name, message, stack: stack ?? "" }))
      if (typeof text !== "string") this.#refuse(`an error whose ${key} is no text`);
    const own = this.#members({ ...error }, depth);
    const encoded: JsonValue = { [TAG]: "error", name, message, stack: stack ?? null, own };
    if (cause !== undefined) encoded["cause"] = this.#member("cause", cause, depth);
    if (error instanceof AggregateError) encoded["errors"] = this.#member("errors", error.errors, depth);
    return encoded;
  }

  /** LangGraph recognises its own objects by their members, so they travel as such. */
  #langGraph(value: object, depth: number): JsonValue | undefined {
    const { lg_name } = value as { lg_name?: unknown };
    if (lg_name === undefined) return undefined;
    if (value instanceof DeltaSnapshot) return { [TAG]: "delta", v: this.#member("value", value.value, depth) };
    if (lg_name === "Send") {
      const { node, args, timeout } = value as { node: unknown; args: unknown; timeout?: unknown };
      return this.#members(timeout === undefined ? { node, args } : { node, args, timeout }, depth);
    }
    const { toJSON } = value as { toJSON?: () => unknown };
    const json = typeof toJSON === "function" ? toJSON.call(value) : undefined;
    return json && typeof json === "object" ? this.#members(json as Record<string, unknown>, depth) : undefined;
  }

  #others(value: object, prototype: object | null, depth: number): JsonValue {
    if (prototype === null) {
      this.#refuseSymbols(value);
      return { [TAG]: "null-prototype", v: this.#members(value as Record<string, unknown>, depth) };
    }
    if (value instanceof Document && value.constructor === Document) return this.#document(value, depth);
    // A plain object of another realm (a vm context, a worker) has another Object.prototype.
    if (Object.getPrototypeOf(prototype) === null && value.constructor?.name === "Object") {
      return this.#plain(value as Record<string, unknown>, depth);
    }
    return this.#refuse(`an instance of ${value.constructor?.name ?? "an unnamed class"}`);
  }

  #document(document: Document, depth: number): JsonValue {
    const { id, pageContent, metadata } = document;
    const [name] = Reflect.ownKeys(document).filter((key) => !OF_DOCUMENT.has(key));
    if (name !== undefined) this.#refuse(`a Document with the member ${String(name)}`);
    const members = id === undefined ? { pageContent, metadata } : { id, pageContent, metadata };
    return { [TAG]: "document", v: this.#members(members, depth) };
  }

  #lastKey(): string {
    const named = this.#path.findLast((key) => typeof key === "string");
    return (named as string | undefined) ?? "";
  }

  #pathText(): string {
    return this.#path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  }

  #refuse(what: string): never {
    throw refusal({ where: this.#where, path: this.#pathText(), what });
  }
}

const BARE = new Set<unknown>([ArrayBuffer, Date, Map, Set, RegExp, URL]);
const OF_DOCUMENT = new Set<PropertyKey>(["id", "pageContent", "metadata"]);

interface Refusal {
  where: string;
  path: string;
  what: string;
}

function refusal(details: Refusal, cause?: unknown): AppError {
  const { where, path, what } = details;
  return new AppError(
    "unserializable_value",
    `${where}${shortened(path)} is ${what}, which can't be stored and read back as it was. Nothing was written. ` +
      "Keep plain data, messages, Date, Map, Set, bytes or errors in the state.",
    { details: { ...details }, ...(cause !== undefined && { cause }) },
  );
}

const PATH_SHOWN = 200;

function shortened(path: string): string {
  return path.length <= PATH_SHOWN ? path : `${path.slice(0, PATH_SHOWN / 2)} … ${path.slice(-PATH_SHOWN / 2)}`;
}

/** Of what failed at a first look at the value: the refusal that a thorough one comes to, with the path. */
export function explained(error: unknown, value: unknown, where: string): unknown {
  if (error instanceof AppError) return error;
  try {
    encodeValue(value, where);
  } catch (refused) {
    return refused;
  }
  return error;
}

/** The same refusal, from where what was refused is a part of something larger. */
export function refusedWithin(error: unknown, path: string): unknown {
  if (!isAppError(error, "unserializable_value") || path === "") return error;
  const details = error.details as unknown as Refusal;
  return refusal({ ...details, path: path + details.path }, error.cause);
}

function timeOf(date: Date): string | null {
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function numberName(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
