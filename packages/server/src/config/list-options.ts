import { z } from "zod";
import { ConfigSchema } from "./config-schema.ts";
import { findOptionInfo, type OptionInfo } from "./option.ts";

export interface ConfigOption extends OptionInfo {
  /** As in the file: `server.port`. */
  readonly path: string;
  readonly env: string;
  readonly schema: z.ZodType;
  /** Undefined where there is none. */
  readonly default: unknown;
}

/** Every key there is, in the order of the schema. */
export function listOptions(): ConfigOption[] {
  return optionsOf(ConfigSchema, []);
}

function optionsOf(schema: unknown, path: readonly string[]): ConfigOption[] {
  const info = schema instanceof z.ZodType ? findOptionInfo(schema) : undefined;
  if (info && schema instanceof z.ZodType) {
    const env = info.env ?? `COGNITION_${path.join("_").toUpperCase()}`;
    return [{ ...info, path: path.join("."), env, schema, default: schema.safeParse(undefined).data }];
  }
  const group = schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
  if (!(group instanceof z.ZodObject)) throw new TypeError(`${path.join(".")} is neither a section nor an option`);
  return Object.entries(group.shape).flatMap(([key, inner]) => optionsOf(inner, [...path, key]));
}
