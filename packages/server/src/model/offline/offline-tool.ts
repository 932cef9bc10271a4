import type { BindToolsInput } from "@langchain/core/language_models/chat_models";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly minimum?: number;
  readonly format?: string;
}

/** A tool as the offline model sees it: what a real model would be told of it. */
export interface OfflineTool {
  readonly name: string;
  /** Those of its name: told apart once, since every sentence is held against every tool. */
  readonly words: readonly string[];
  readonly description: string;
  readonly schema: Schema;
}

export function readTools(tools: readonly BindToolsInput[]): OfflineTool[] {
  return tools.flatMap((tool) => {
    const read = toFunction(tool);
    if (!read?.name) return [];
    const { name, description = "", parameters = {} } = read;
    return [{ name, words: wordsOf(name), description, schema: parameters }];
  });
}

interface FunctionLike {
  readonly name?: string;
  readonly description?: string;
  readonly parameters?: Schema;
}

// Tools come as LangChain's objects, in OpenAI's form, or in Anthropic's.
function toFunction(tool: BindToolsInput): FunctionLike | undefined {
  const plain = tool as {
    function?: FunctionLike;
    input_schema?: Schema;
    name?: string;
    description?: string;
    schema?: unknown;
  };
  if (plain.function) return plain.function;
  if (plain.input_schema) {
    const { name, description, input_schema } = plain;
    return { ...(name && { name }), ...(description && { description }), parameters: input_schema };
  }
  if (plain.schema === undefined) return plain;
  return convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]).function as FunctionLike;
}

export function typeOf(schema: Schema): string {
  if (schema.enum) return "enum";
  if (schema.const !== undefined) return "const";
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  const first = types.find((type) => type !== "null");
  if (first) return first;
  const choice = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].find((option) => option.type !== "null");
  if (choice) return typeOf(choice);
  return schema.properties ? "object" : "string";
}

export function takesNull({ type, anyOf = [], oneOf = [] }: Schema): boolean {
  return [type].flat().includes("null") || [...anyOf, ...oneOf].some(takesNull);
}

/** What a call can't do without. A parameter with a default can. */
export function requiredNames({ properties = {}, required = [] }: Schema): string[] {
  return required.filter((name) => properties[name] && properties[name].default === undefined);
}

/** The words of a name: `get_weather`, `get-weather` and `getWeather` are the same two. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}
