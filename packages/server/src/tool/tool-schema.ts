import { AppError, isJsonObject, type JsonObject } from "@cognition/contract";
import { z } from "zod";
import { messageOf } from "../file/error-text.ts";
import { compileJsonSchema } from "./json-schema.ts";
import type { ToolDefinition, ToolSchema } from "./tool.ts";

/** By its mark rather than `instanceof`: a workspace's tools bring their own copy of zod. */
export function isZodSchema(schema: unknown): schema is z.ZodType {
  return isJsonObject(schema) && "_zod" in schema;
}

/** A tool that is made anew for each server or run has the schema that it had before: it is read once. */
const converted = new WeakMap<z.ZodType, JsonObject>();

/** The schema as models get it. Throws `validation_failed` if it is none, or not one of an object. */
export function toolParameters(schema: ToolSchema): JsonObject {
  const parameters: JsonObject = isZodSchema(schema) ? fromZod(schema) : schema;
  compileJsonSchema(parameters);
  if (parameters["type"] !== "object") {
    throw new AppError("validation_failed", 'a tool\'s schema must be of an object: its "type" is not "object"');
  }
  return parameters;
}

function fromZod(schema: z.ZodType): JsonObject {
  const known = converted.get(schema);
  if (known) return known;
  try {
    const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
    converted.set(schema, parameters);
    return parameters;
  } catch (cause) {
    const reason = messageOf(cause);
    throw new AppError("validation_failed", `the schema has no JSON form that a model could be given: ${reason}`, {
      cause,
    });
  }
}

/** The arguments as the tool gets them, defaults filled in. Throws `validation_failed` and says what does not fit. */
export async function parseToolArgs(tool: Pick<ToolDefinition, "name" | "schema">, args: unknown): Promise<JsonObject> {
  const { name, schema } = tool;
  if (isZodSchema(schema)) {
    const result = await z.safeParseAsync(schema, args);
    return result.success ? (result.data as JsonObject) : parseFailed(name, result.error);
  }
  const wrong = compileJsonSchema(schema)(args);
  if (wrong) throw new AppError("validation_failed", `arguments of ${name}: ${wrong}`, { details: { tool: name } });
  return args as JsonObject;
}

function parseFailed(name: string, error: z.ZodError): never {
  const wrong = error.issues.map(({ path, message }) => `${[name, ...path.map(String)].join(".")}: ${message}`);
  throw new AppError("validation_failed", `arguments of ${wrong.join("; ")}`, { details: { tool: name } });
}
