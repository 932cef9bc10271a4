import { AppError, type JsonObject } from "@cognition/contract";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { messageOf } from "../file/error-text.ts";
import { checkWithin } from "./check-within.ts";
import { mapSchemas } from "./map-schemas.ts";
import { modelSchema } from "./model-schema.ts";

/** The reason why a value does not fit, or undefined if it does. */
export type SchemaCheck = (value: unknown) => string | undefined;

/**
 * A pattern, a form within itself, or ten thousand items that must differ may take minutes and hours to say no: they come from whoever
 * may define an agent, and edit what its tools are called with.
 */
const MAY_TAKE_LONG = /"(pattern|patternProperties|\$ref|uniqueItems)":/;
/** What is longer may have so much to compare each of many items with. */
const SHORT_LENGTH = 4_000;
/** By the clock, so not too short: on a busy machine a check that takes nothing may wait for its turn. */
const CHECK_MS = 250;
/**
 * How long a schema may take to be read: of what refers to itself a hundred times a hundred, four kilobytes take seconds, and fifteen a
 * gigabyte as well. By the clock, too: what was taken when it was defined must not be refused when a busy machine runs it.
 */
export const DEFINED_WITHIN_MS = 1_000;
const READ_WITHIN_MS = 10_000;
const TOO_LONG = `to see whether it fits takes longer than ${CHECK_MS} ms; the schema must be simpler`;

const compiled = new WeakMap<object, SchemaCheck>();
let metaSchema: SchemaCheck | undefined;

// A validator of its own for each schema: a shared one answers with the first schema that had the same `$id`, and keeps
// every schema it ever saw.
function compile(schema: JsonObject): SchemaCheck {
  const validate = new AjvJsonSchemaValidator().getValidator(mapSchemas(schema, withPlaces));
  return (value) => validate(value).errorMessage;
}

/** What stands at each place of an array, as the validator's version of JSON Schema says it. Newer ones have `items` for what follows. */
function withPlaces(schema: JsonObject): JsonObject {
  const { prefixItems, items, ...rest } = schema;
  if (!Array.isArray(prefixItems)) return schema;
  return { ...rest, items: prefixItems, ...(items !== undefined && { additionalItems: items }) };
}

function bounded(check: SchemaCheck, schema: JsonObject): SchemaCheck {
  const text = JSON.stringify(schema);
  if (text.length <= SHORT_LENGTH && !MAY_TAKE_LONG.test(text)) return check;
  return (value) => checkWithin(CHECK_MS, () => check(value), TOO_LONG);
}

/** Throws `validation_failed` for what is no JSON Schema, refers to something outside itself, or takes too long to be read. */
export function compileJsonSchema(schema: JsonObject, within_ms = READ_WITHIN_MS): SchemaCheck {
  const known = compiled.get(schema);
  if (known) return known;
  metaSchema ??= compile({ $ref: "http://json-schema.org/draft-07/schema#" });
  const meta = metaSchema;
  // `$async` is the validator's own word: what it then answers is a promise, which fits whatever the value is.
  const { $schema: _, $async: __, ...rest } = schema;
  const check = checkWithin(within_ms, () => read(rest, meta), undefined);
  if (!check) throw unusable(`to read it takes longer than ${within_ms} ms; it must be simpler`);
  compiled.set(schema, check);
  return check;
}

function read(schema: JsonObject, meta: SchemaCheck): SchemaCheck {
  const wrong = meta(schema);
  if (wrong) throw new AppError("validation_failed", `not a JSON Schema: ${wrong}`);
  try {
    const check = bounded(compile(schema), schema);
    modelSchema(schema); // made again for each run, which nothing stops in its middle
    return check;
  } catch (cause) {
    throw unusable(messageOf(cause), cause);
  }
}

function unusable(reason: string, cause?: unknown): AppError {
  return new AppError("validation_failed", `not a usable JSON Schema: ${reason}`, { cause });
}
