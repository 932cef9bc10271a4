import { AppError, type JsonObject } from "@cognition/contract";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { messageOf } from "../file/error-text.ts";
import { checkWithin } from "./check-within.ts";

/** The reason why a value does not fit, or undefined if it does. */
export type SchemaCheck = (value: unknown) => string | undefined;

/** A pattern, or a form within itself, may take hours to say no: both come from whoever may define an agent. */
const MAY_TAKE_LONG = /"(pattern|patternProperties|\$ref)":/;
/** By the clock, so not too short: on a busy machine a check that takes nothing may wait for its turn. */
const CHECK_MS = 250;
const TOO_LONG = `to see whether it fits takes longer than ${CHECK_MS} ms; the schema must be simpler`;

const compiled = new WeakMap<object, SchemaCheck>();
let metaSchema: SchemaCheck | undefined;

// A validator of its own for each schema: a shared one answers with the first schema that had the same `$id`, and keeps
// every schema it ever saw.
function compile(schema: JsonObject): SchemaCheck {
  const validate = new AjvJsonSchemaValidator().getValidator(schema);
  return (value) => validate(value).errorMessage;
}

function bounded(check: SchemaCheck, schema: JsonObject): SchemaCheck {
  if (!MAY_TAKE_LONG.test(JSON.stringify(schema))) return check;
  return (value) => checkWithin(CHECK_MS, () => check(value), TOO_LONG);
}

/** Throws `validation_failed` for what is no JSON Schema, or refers to something outside itself. */
export function compileJsonSchema(schema: JsonObject): SchemaCheck {
  const known = compiled.get(schema);
  if (known) return known;
  metaSchema ??= compile({ $ref: "http://json-schema.org/draft-07/schema#" });
  const { $schema: _, ...rest } = schema;
  const wrong = metaSchema(rest);
  if (wrong) throw new AppError("validation_failed", `not a JSON Schema: ${wrong}`);
  try {
    const check = bounded(compile(rest), rest);
    compiled.set(schema, check);
    return check;
  } catch (cause) {
    const reason = messageOf(cause);
    throw new AppError("validation_failed", `not a usable JSON Schema: ${reason}`, { cause });
  }
}
