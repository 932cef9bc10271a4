import { AppError, isJsonObject, type JsonObject, MAX_NAME_LENGTH, MAX_TEXT_LENGTH } from "@cognition/contract";
import { z } from "zod";
import type { ToolContext, ToolDefinition, ToolResult } from "./tool.ts";
import { isZodSchema, toolParameters } from "./tool-schema.ts";

// Registered, because a workspace's tools may come with another copy of this package.
const MARK = Symbol.for("cognition.tool");

/** The names that every model provider takes. */
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const fields = z.strictObject({
  name: z.string({ error: "name is required" }).regex(TOOL_NAME, {
    error: `name must be letters, digits, _ and -, at most ${MAX_NAME_LENGTH}, not starting with a digit`,
  }),
  description: z
    .string({ error: "description is required: it is all that a model knows of the tool" })
    .min(1, { error: "description must not be empty: it is all that a model knows of the tool" })
    .max(MAX_TEXT_LENGTH),
  schema: z.custom<JsonObject | z.ZodType>((value) => isJsonObject(value), {
    error: "schema must be a zod schema or a JSON Schema object",
  }),
  on_crash: z.enum(["retry", "never", "ask"], { error: "on_crash must be retry, never or ask" }),
  effect: z.enum(["read", "network", "write", "execute"], { error: "effect must be read, network, write or execute" }),
  run: z.custom<ToolDefinition["run"]>((value) => typeof value === "function", { error: "run must be a function" }),
});

/** What `run` is given: a zod schema tells the type, a JSON Schema leaves it open. */
type ArgsOf<S> = S extends z.ZodType ? z.output<S> : JsonObject;

interface NewTool<S extends z.ZodType | JsonObject> extends Omit<ToolDefinition, "schema" | "run"> {
  schema: S;
  run(args: ArgsOf<S>, context: ToolContext): Promise<ToolResult> | ToolResult;
}

/** A tool of one's own, checked at once: what is wrong with it is said where it is written. */
export function defineTool<const S extends z.ZodType | JsonObject>(tool: NewTool<S>): ToolDefinition<ArgsOf<S>> {
  const checked = checkTool(tool);
  Object.defineProperty(checked, MARK, { value: true });
  return checked as unknown as ToolDefinition<ArgsOf<S>>;
}

export function isDefinedTool(value: unknown): value is ToolDefinition {
  return isJsonObject(value) && MARK in value;
}

/** Throws `validation_failed` with everything that is wrong. Does not need `defineTool`: a plain object will do. */
export function checkTool(tool: unknown): ToolDefinition {
  const result = fields.safeParse(tool);
  if (!result.success) {
    const wrong = result.error.issues.map(
      ({ path, message }) => (path.length > 1 ? `${path.join(".")}: ` : "") + message,
    );
    const name = isJsonObject(tool) && typeof tool["name"] === "string" ? `tool ${tool["name"]}` : "a tool";
    throw new AppError("validation_failed", `${name}: ${wrong.join("; ")}`);
  }
  const { schema, name } = result.data;
  if (!isZodSchema(schema) && "_def" in schema) {
    throw new AppError("validation_failed", `tool ${name}: its schema is of zod 3; zod 4 is needed`);
  }
  try {
    toolParameters(schema);
  } catch (cause) {
    throw new AppError("validation_failed", `tool ${name}: ${(cause as Error).message}`, { cause });
  }
  return result.data;
}
