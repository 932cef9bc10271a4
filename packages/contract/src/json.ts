import { z } from "zod";
import { MAX_JSON_DEPTH } from "./limits.ts";

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value stays within MAX_JSON_DEPTH. Walks by level, since recursion is what a deep value breaks. */
export function isShallow(value: unknown): boolean {
  let level = new Set<unknown>([value]);
  for (let depth = 0; level.size > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return false;
    const next = new Set<unknown>();
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const child of Object.values(item)) next.add(child);
    }
    level = next;
  }
  return true;
}

export const tooDeep = { error: `is nested deeper than the limit of ${MAX_JSON_DEPTH} levels`, abort: true };

// `z.record` and `z.looseObject` copy the object and leave out a `__proto__` key without a word; what an agent or a tool
// wrote passes through untouched instead. The cast restores the type that `z.unknown` forgets.
export function passThrough<T>(schema: z.ZodType): z.ZodType<T, T> {
  return schema as unknown as z.ZodType<T, T>;
}

const object = z.unknown().refine(isJsonObject, { error: "must be a JSON object", abort: true });

export const JsonObject = passThrough<JsonObject>(object.meta({ type: "object" }));

/** What callers send: depth is checked where it enters, not again on every read. */
export const JsonObjectInput = passThrough<JsonObject>(object.refine(isShallow, tooDeep).meta({ type: "object" }));
export const JsonValueInput = z.unknown().refine(isShallow, tooDeep);

/** As it is read: limits hold for what is written, so that lowering one leaves stored data readable. */
export const StringMap = z.record(z.string(), z.string());

/**
 * A record of few entries, counted before one is looked at: of a hundred thousand each would be found wrong by itself.
 * Refuses the one key that records drop in silence.
 */
export function smallRecord<S extends z.ZodType>(name: string, max: number, what: string, schema: S) {
  return z.preprocess((value: z.input<S>, ctx) => {
    const refuse = (message: string) => ctx.addIssue({ code: "custom", message, input: value });
    if (!isJsonObject(value)) return value;
    if (Object.hasOwn(value, "__proto__")) refuse("the key __proto__ is not allowed");
    if (Object.keys(value).length > max) refuse(`${name} has more than the limit of ${max} ${what}`);
    return value;
  }, schema);
}
