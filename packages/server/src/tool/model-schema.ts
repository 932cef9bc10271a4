import { isJsonObject, type JsonObject } from "@cognition/contract";
import { mapSchemas } from "./map-schemas.ts";

/** Providers refuse these at the top of a tool's schema, and with the one tool every request that it is part of. */
const REFUSED = ["allOf", "anyOf", "oneOf", "not", "enum"];
/** References may lead back to where they stand. */
const MAX_DEPTH = 8;

/**
 * A tool's schema in the form that every provider takes: one object, whose properties are listed, with something said of the
 * items of every array. Alternatives are put together; what each of them asks for is held by the schema itself, which is
 * looked at before the tool runs.
 */
export function modelSchema(schema: JsonObject): JsonObject {
  return mapSchemas(isTaken(schema) ? schema : fold(schema, schema, 0), withItems);
}

/**
 * OpenAI refuses an array of which nothing is said what it holds, and Anthropic one that lists what stands at each place as older
 * versions of JSON Schema do.
 */
function withItems(schema: JsonObject): JsonObject {
  if (![schema["type"]].flat().includes("array")) return schema;
  const { items, additionalItems, prefixItems, ...rest } = schema;
  const [places, others] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
  const array = { ...rest, items: isJsonObject(others) ? others : {} };
  if (!Array.isArray(places) || places.length === 0) return array;
  const most = others === false && !("maxItems" in rest) ? { maxItems: places.length } : {};
  return { ...array, prefixItems: places, ...most };
}

function isTaken(schema: JsonObject): boolean {
  return isJsonObject(schema["properties"]) && !REFUSED.some((keyword) => keyword in schema);
}

function fold(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const parts = (keyword: string) => partsOf(schema[keyword], root, depth);
  const all = parts("allOf");
  const choices = [parts("anyOf"), parts("oneOf")];
  const required = new Set([schema, ...all].flatMap(requiredOf).concat(choices.flatMap(requiredByEach)));
  const kept = Object.entries(schema).filter(([keyword]) => !REFUSED.includes(keyword));
  return {
    ...Object.fromEntries(kept),
    properties: joinProperties([schema, ...all, ...choices.flat()]),
    ...(required.size > 0 && { required: [...required] }),
  };
}

function partsOf(parts: unknown, root: JsonObject, depth: number): JsonObject[] {
  if (!Array.isArray(parts) || depth === MAX_DEPTH) return [];
  return parts
    .map((part) => resolve(part, root))
    .filter(isJsonObject)
    .map((part) => fold(part, root, depth + 1));
}

/** What `#/$defs/Name` stands for. */
function resolve(part: unknown, root: JsonObject): unknown {
  const ref = isJsonObject(part) ? part["$ref"] : undefined;
  if (typeof ref !== "string" || !ref.startsWith("#/")) return part;
  const names = ref.slice(2).split("/");
  return names.reduce<unknown>(
    (at, name) => (isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    root,
  );
}

function requiredOf({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function requiredByEach(choices: readonly JsonObject[]): string[] {
  const [first, ...others] = choices.map(requiredOf);
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)));
}

/** A property that several have is any of what they say of it. */
function joinProperties(schemas: readonly JsonObject[]): JsonObject {
  const found = new Map<string, Map<string, unknown>>();
  for (const { properties } of schemas) {
    for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      found.set(name, (found.get(name) ?? new Map()).set(JSON.stringify(property), property));
    }
  }
  return Object.fromEntries(
    [...found].map(([name, kinds]) => [
      name,
      kinds.size === 1 ? [...kinds.values()][0] : { anyOf: [...kinds.values()] },
    ]),
  );
}
