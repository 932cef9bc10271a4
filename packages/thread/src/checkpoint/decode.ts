import { AppError } from "@cognition/contract";
import { bytesOf } from "./bytes.ts";
import { RECORD, TAG } from "./encode.ts";
import type { JsonValue } from "./json-value.ts";
import { createMessage, DeltaSnapshot, Document } from "./langchain-class.ts";

type Tagged = { [key: string]: JsonValue };
type Decode = (value: JsonValue) => unknown;

/** Gives the value of a tag that only the caller knows (references to pieces), or undefined. */
export type Resolve = (tagged: Tagged, decode: Decode) => unknown;

/** Builds the value in place: `json` must not be used afterwards. */
export function decodeValue(json: JsonValue, where: string, resolve?: Resolve): unknown {
  const decode: Decode = (value) => {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const member = value[i];
        if (member !== null && typeof member === "object") value[i] = decode(member) as JsonValue;
      }
      return value;
    }
    return TAG in value ? decodeTagged(value, decode, resolve) : decodeMembers(value, decode);
  };
  try {
    return decode(json);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("corrupt_data", `${where} is not readable: ${(cause as Error).message}`, { cause });
  }
}

function decodeMembers(value: Tagged, decode: Decode): Record<string, unknown> {
  for (const key in value) {
    const member = value[key];
    if (member !== null && typeof member === "object") value[key] = decode(member) as JsonValue;
  }
  return value;
}

const ERRORS = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

const TAGS: Record<string, (tagged: Tagged, decode: Decode) => unknown> = {
  undefined: () => undefined,
  number: ({ v }) => Number(v),
  bigint: ({ v }) => BigInt(v as string),
  date: ({ v }) => new Date(v === null ? Number.NaN : (v as string)),
  map: ({ v }, decode) => new Map(pairs(decode(v as JsonValue) as unknown[])),
  set: ({ v }, decode) => new Set(decode(v as JsonValue) as unknown[]),
  regexp: ({ v, f }) => new RegExp(v as string, f as string),
  url: ({ v }) => new URL(v as string),
  bytes: ({ c, v }) => decodeBytes(c as string, v as string),
  error: decodeError,
  [RECORD]: ({ v }, decode) => Object.fromEntries(pairs(decode(v as JsonValue) as unknown[])),
  object: ({ v }, decode) => decodeMembers(v as Tagged, decode),
  "null-prototype": ({ v }, decode) => Object.assign(Object.create(null), decodeMembers(v as Tagged, decode)),
  delta: ({ v }, decode) => new DeltaSnapshot(decode(v as JsonValue)),
  document: ({ v }, decode) => new Document(decodeMembers(v as Tagged, decode) as { pageContent: string }),
  message: ({ c, v }, decode) => {
    const message = createMessage(c as string, decodeMembers(v as Tagged, decode));
    if (!message) throw corrupt(`the message class ${c}`);
    return message;
  },
};

function decodeTagged(tagged: Tagged, decode: Decode, resolve: Resolve | undefined): unknown {
  const known = TAGS[tagged[TAG] as string];
  if (known) return known(tagged, decode);
  const resolved = resolve?.(tagged, decode);
  if (resolved === undefined) throw corrupt(`the tag ${JSON.stringify(tagged[TAG])}`);
  return resolved;
}

/** Where it stands is told by whoever asked for the value. */
function corrupt(what: string): Error {
  return new Error(`it holds ${what}, which this release doesn't know`);
}

function* pairs<K>(flat: unknown[]): Generator<[K, unknown]> {
  for (let i = 0; i < flat.length; i += 2) yield [flat[i] as K, flat[i + 1]];
}

function decodeBytes(type: string, data: string): unknown {
  const bytes = bytesOf(type, Buffer.from(data, "base64"));
  if (bytes === undefined) throw corrupt(`bytes of the type ${type}`);
  return bytes;
}

function decodeError({ name, message, stack, own, cause, errors }: Tagged, decode: Decode): Error {
  const type = ERRORS[name as keyof typeof ERRORS] ?? Error;
  const error = errors
    ? new AggregateError(decode(errors) as unknown[], message as string)
    : new type(message as string);
  const hidden = (key: string, value: unknown) =>
    Object.defineProperty(error, key, { value, configurable: true, writable: true });
  if (error.name !== name && !("name" in (own as Tagged))) hidden("name", name);
  hidden("stack", stack ?? undefined);
  if (cause !== undefined) hidden("cause", decode(cause));
  return Object.assign(error, decodeMembers(own as Tagged, decode));
}
