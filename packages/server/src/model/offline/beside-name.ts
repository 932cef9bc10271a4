import { NUMBER, numbersIn } from "./coerce-value.ts";
import { type Schema, typeOf, wordsOf } from "./offline-tool.ts";
import { literal } from "./phrase.ts";

export interface Beside {
  readonly name: string;
  readonly value: unknown;
  /** What was said of it, with the little word before it. */
  readonly phrase: string;
}

/** Values that stand before the names of what may be given: "for 3 days", "with high priority". */
export function besideNames(text: string, properties: Readonly<Record<string, Schema>>): Beside[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const value = valuesOf(schema);
    const words = wordsOf(name).join("[\\s_-]").replace(/s$/, "");
    if (value === undefined || words === "") return [];
    // Nothing in it repeats: over a long run of spaces that would take seconds.
    const little =
      "(?:,?\\s(?:and\\s)?(?:for|with|over|in|at|of)\\s(?:an?\\s|the\\s)?(?:next\\s|coming\\s|following\\s)?)?";
    const found =
      new RegExp(`${little}(?<![\\w.-])(${value})\\s+${words}s?(?![\\w-]|\\s*[=:])`, "i").exec(text) ??
      (schema.enum &&
        new RegExp(`${little}(?<![\\w.-])(?:${words}|${wordsOf(name).at(-1)})\\s(${value})(?![\\w-])`, "i").exec(
          text,
        )) ??
      (schema.enum &&
        new RegExp(`,?\\s(?:in|as)\\s(${value})(?:\\s(?:class|mode|format|units?))?(?=[\\s,.!?]|$)`, "i").exec(text));
    if (!found?.[1]) return [];
    return [{ name, value: schema.enum ? memberOf(schema, found[1]) : numbersIn(found[1])[0], phrase: found[0] }];
  });
}

function valuesOf(schema: Schema): string | undefined {
  const type = typeOf(schema);
  if (type === "enum") return schema.enum?.map((member) => literal(String(member))).join("|");
  return type === "number" || type === "integer" ? NUMBER : undefined;
}

function memberOf({ enum: members = [] }: Schema, said: string): unknown {
  return members.find((member) => String(member).toLowerCase() === said.toLowerCase());
}
