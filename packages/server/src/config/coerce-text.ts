import type { z } from "zod";
import { type Layer, valueAt, withValue } from "./layer.ts";

const TRUE = /^(true|1|yes|on)$/i;
const FALSE = /^(false|0|no|off)$/i;

/**
 * A variable is always text. Where the schema wants something else, the text is read as that: a number, true or false, a list
 * (JSON, or parts between commas) or an object (JSON). What can't be read so stays text, for the schema to refuse.
 */
export function coerceText(schema: z.ZodType, layer: Layer): Record<string, unknown> {
  let value: unknown = layer.value;
  // A list read from text may hold text for numbers in its turn; no key is deeper than that.
  for (let round = 0; round < 3; round++) {
    const result = schema.safeParse(value);
    if (result.success) break;
    for (const issue of result.error.issues) {
      if (issue.code !== "invalid_type" || !layer.isText(issue.path)) continue;
      const text = valueAt(value, issue.path);
      if (typeof text === "string") value = withValue(value, issue.path, read(text, issue.expected));
    }
  }
  return value as Record<string, unknown>;
}

function read(text: string, expected: string): unknown {
  const trimmed = text.trim();
  switch (expected) {
    case "number":
    case "int":
      return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : text;
    case "boolean":
      if (TRUE.test(trimmed)) return true;
      return FALSE.test(trimmed) ? false : text;
    case "array":
      // JSON whose quotes a shell has taken away would be read as other words: `[a,b]` has no part named "[a".
      if (isBrokenJson(trimmed) || (/^\[.*,.*\]$/s.test(trimmed) && !readJson(trimmed, "["))) return text;
      return (
        readJson(trimmed, "[") ??
        trimmed
          .split(",")
          .map((part) => part.trim())
          .filter((part) => part !== "")
      );
    case "object":
    case "record":
      return readJson(trimmed, "{") ?? text;
    default:
      return text;
  }
}

/** Whether a text can only be meant as JSON, and is none. */
export function isBrokenJson(text: string): boolean {
  const trimmed = text.trim();
  const meant = /^(\{|\[\s*["{[])/.exec(trimmed);
  return meant !== null && readJson(trimmed, trimmed.startsWith("{") ? "{" : "[") === undefined;
}

function readJson(text: string, first: "[" | "{"): unknown {
  if (!text.startsWith(first)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // stays text, which the schema refuses with what it wants
  }
}
