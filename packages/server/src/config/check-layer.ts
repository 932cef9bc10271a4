import { AppError } from "@cognition/contract";
import type { z } from "zod";
import { coerceText, isBrokenJson } from "./coerce-text.ts";
import { isGroup, type Layer, valueAt } from "./layer.ts";
import { nearest } from "./nearest.ts";
import { describeOrigin } from "./origin.ts";

/** The layer's values, each of the type that the schema wants; or every fault there is, each with its place. */
export function checkLayer(
  schema: z.ZodType,
  layer: Layer,
  keysAt: (path: string) => string[],
): Record<string, unknown> {
  const value = coerceText(schema, layer);
  const result = schema.safeParse(value);
  if (result.success) return value;
  const { issues } = result.error;
  const lines = issues.flatMap((issue) => describeIssue(issue, layer, keysAt));
  const unknown = issues.every((issue) => issue.code === "unrecognized_keys");
  throw new AppError(unknown ? "unknown_config_key" : "invalid_config", `${lines.join("\n")}\nNothing was started.`, {
    details: { errors: lines },
  });
}

function describeIssue(issue: z.core.$ZodIssue, layer: Layer, keysAt: (path: string) => string[]): string[] {
  const path = issue.path.map(String).join(".");
  if (issue.code !== "unrecognized_keys") {
    const given = layer.isText(issue.path) ? valueAt(layer.value, issue.path) : undefined;
    const broken = typeof given === "string" && isBrokenJson(given);
    const problem = broken ? "is not valid JSON" : problemOf(issue, keysAt(path));
    return [`${describeOrigin(layer.originOf(issue.path))}: ${path} ${problem}`];
  }
  const valid = keysAt(path);
  return issue.keys.map((key) => {
    const name = `${path === "" ? "" : `${path}.`}${key}`;
    const hint = valid.length > 0 ? `; valid are ${valid.join(", ")}. Did you mean ${nearest(key, valid)[0]}?` : "";
    const advice = key.includes(".") && isPath(name, keysAt) ? `: each dot is a level, so write ${nested(key)}` : hint;
    return `${describeOrigin(layer.originOf([...issue.path, key]))}: unknown key ${name}${advice}`;
  });
}

function isPath(name: string, keysAt: (path: string) => string[]): boolean {
  const at = name.lastIndexOf(".");
  return keysAt(name.slice(0, at)).includes(name.slice(at + 1));
}

function nested(key: string): string {
  const keys = key.split(".");
  return `${keys.join(": { ")}: …${" }".repeat(keys.length - 1)}`;
}

/** The schemas say in words what a value must be; of what holds values only the library speaks, in its own terms. */
function problemOf(issue: z.core.$ZodIssue, keys: readonly string[]): string {
  if (issue.code !== "invalid_type" || !issue.message.startsWith("Invalid input")) return issue.message;
  if (issue.expected === "array")
    return 'must be a list: a,b or as JSON ["a","b"], whose quotes a shell must be kept from taking';
  if (issue.expected !== "object" && issue.expected !== "record") return issue.message;
  return `must be a mapping of keys to values${keys.length > 0 ? `; its keys are ${keys.join(", ")}` : ""}`;
}

/**
 * The later one's values go over the earlier one's, key by key. What a key has is one value, be it a list or a mapping:
 * a header or a claim that the later layer leaves out is meant to be gone.
 */
export function mergeValues(under: unknown, over: unknown, keys: ReadonlySet<string>, path = ""): unknown {
  if (keys.has(path) || !isGroup(under) || !isGroup(over)) return over === undefined ? under : over;
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const inner = path === "" ? key : `${path}.${key}`;
    merged[key] = Object.hasOwn(under, key) ? mergeValues(under[key], value, keys, inner) : value;
  }
  return merged;
}
