import { z } from "zod";

export interface OptionInfo {
  readonly description: string;
  /** Where it is not `COGNITION_` and the path in capitals: names that users already have in their environments. */
  readonly env?: string;
  /** Other names of the same variable. */
  readonly aliases?: readonly string[];
  /** Never shown. */
  readonly secret?: boolean;
  /** In words, where there is no fixed default. */
  readonly unset?: string;
}

const INFO = z.registry<OptionInfo>();

/** A key of the configuration: everything below it is one value. */
export function option<S extends z.ZodType>(schema: S, info: OptionInfo): S {
  // A clone, since the same schema may serve two keys and the registry knows one entry for each.
  const own = schema.clone();
  INFO.add(own, info);
  return own;
}

export function findOptionInfo(schema: z.ZodType): OptionInfo | undefined {
  return INFO.get(schema);
}

/** A group of keys. Left out, it is as if it were there with nothing in it. */
export function section<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape).prefault({} as z.input<z.ZodObject<T, z.core.$strict>>);
}

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function decimal(min: number, max: number) {
  const error = `must be a number from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
}

export function onOff() {
  return z.boolean({ error: "must be true or false" });
}

export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(", ")}` });
}

export function words(what: string) {
  return z.string({ error: `must be ${what}` }).min(1, { error: `must be ${what}, not empty` });
}

export function httpUrl() {
  return z.url({ protocol: /^https?$/, error: "must be an http or https address" });
}
