import * as contract from "@cognition/contract";
import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

const ROOT = "#/components/schemas/";

/** What is sent and what comes back differ in what may be left out, so a schema of both is there twice. */
interface Direction {
  readonly io: "input" | "output";
  readonly suffix: string;
}

// No name of the contract has a hyphen, so none of these is another's.
const SENT: Direction = { io: "input", suffix: "-Input" };
const GIVEN: Direction = { io: "output", suffix: "" };

export interface Components {
  /** As callers send it. */
  sent(schema: z.ZodType): JsonSchema;
  /** As callers get it. */
  given(schema: z.ZodType): JsonSchema;
  /** Those that were asked for, and what they name in turn; by name. */
  used(): Record<string, JsonSchema>;
  /** The document with short names: one that stands for what is sent and nothing else needs no mark. */
  shorten(document: JsonSchema): JsonSchema;
}

/** The contract's named schemas, each written once and named from everywhere else. */
export function createComponents(): Components {
  const all = { ...schemasOf(SENT), ...schemasOf(GIVEN) };
  const names = new Map<unknown, string>(namedSchemas().map(([name, schema]) => [schema, name]));
  const asked: JsonSchema[] = [];

  function refer(schema: z.ZodType, { io, suffix }: Direction): JsonSchema {
    const name = names.get(schema);
    const found = name === undefined ? plain(z.toJSONSchema(schema, { io })) : { $ref: `${ROOT}${name}${suffix}` };
    asked.push(found);
    return found;
  }

  return {
    sent: (schema) => refer(schema, SENT),
    given: (schema) => refer(schema, GIVEN),
    used: () => {
      const found = new Set<string>();
      const queue = [...asked];
      for (let next = queue.pop(); next; next = queue.pop()) {
        for (const name of refsIn(next)) {
          if (found.has(name)) continue;
          found.add(name);
          queue.push(all[name] ?? {});
        }
      }
      return Object.fromEntries([...found].sort().map((name) => [name, all[name] ?? {}]));
    },
    shorten: (document) => {
      const given = new Set(
        [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name),
      );
      const text = JSON.stringify(document).replaceAll(/(\w+)-Input"/g, (marked, name: string) =>
        given.has(name) ? marked : `${name}"`,
      );
      return JSON.parse(text) as JsonSchema;
    },
  };
}

function namedSchemas(): [string, z.ZodType][] {
  const exported: [string, unknown][] = Object.entries(contract);
  return exported.filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType);
}

function schemasOf({ io, suffix }: Direction): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [name, schema] of namedSchemas()) registry.add(schema, { id: `${name}${suffix}` });
  const { schemas } = z.toJSONSchema(registry, { io, uri: (id) => `${ROOT}${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)]));
}

/** Inside of a document these two say what the document says already. */
function plain(schema: object): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema as JsonSchema;
  return rest;
}

function refsIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [value.slice(ROOT.length)] : refsIn(value),
  );
}
