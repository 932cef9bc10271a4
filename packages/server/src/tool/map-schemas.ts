import { isJsonObject, type JsonObject } from "@cognition/contract";

/** Keywords below which other schemas stand: alone or in a list, or each under a name. */
const HOLDS_SCHEMAS = [
  ...["items", "prefixItems", "additionalItems", "contains", "additionalProperties", "propertyNames"],
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
];
const HOLDS_NAMED = ["properties", "patternProperties", "$defs", "definitions"];

/** The schema with the change made to it, and before that to each one within it. */
export function mapSchemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(within);
    return isJsonObject(value) ? mapSchemas(value, change) : value;
  };
  const entries = Object.entries(schema).map(([keyword, value]) => {
    if (HOLDS_SCHEMAS.includes(keyword)) return [keyword, within(value)];
    if (!HOLDS_NAMED.includes(keyword) || !isJsonObject(value)) return [keyword, value];
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, within(one)]))];
  });
  return change(Object.fromEntries(entries));
}
