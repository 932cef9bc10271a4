import { isDeepStrictEqual } from "node:util";
import { AppError } from "@cognition/contract";
import { checkSerializable } from "./store-value.ts";

export interface StoreFilter {
  matches(value: Record<string, unknown>): boolean;
  /**
   * Text that the JSON of every matching value contains. The database can leave out most rows by it, but not all: the
   * same text may stand deeper inside a value.
   */
  needles: string[];
}

type Compare = (actual: unknown, wanted: unknown) => boolean;

/** Order is only between two numbers or two strings: "10" and 9 have none. */
const OPERATORS: Record<string, Compare> = {
  $eq: isDeepStrictEqual,
  $ne: (actual, wanted) => !isDeepStrictEqual(actual, wanted),
  $gt: ordered((a, b) => a > b),
  $gte: ordered((a, b) => a >= b),
  $lt: ordered((a, b) => a < b),
  $lte: ordered((a, b) => a <= b),
};

/** Each member of the filter names a member of the value, to be equal to or compared by operators; all must hold. */
export function parseFilter(filter: Record<string, unknown> = {}): StoreFilter {
  // An undefined here is a caller's missing variable: as "any value" it would show what was to be filtered out.
  checkSerializable(filter, "filter");
  const plain = JSON.parse(JSON.stringify(filter)) as Record<string, unknown>;
  const conditions = Object.entries(plain).flatMap(([field, wanted]) => parseField(field, wanted));
  return {
    matches: (value) =>
      conditions.every(({ field, compare, wanted }) =>
        compare(Object.hasOwn(value, field) ? value[field] : undefined, wanted),
      ),
    needles: conditions.flatMap(({ field, compare, wanted }) =>
      compare === OPERATORS["$eq"] && isScalar(wanted) ? [`${JSON.stringify(field)}:${JSON.stringify(wanted)}`] : [],
    ),
  };
}

function parseField(field: string, wanted: unknown): { field: string; compare: Compare; wanted: unknown }[] {
  if (!isOperators(wanted)) return [{ field, compare: isDeepStrictEqual, wanted }];
  return Object.entries(wanted).map(([operator, operand]) => {
    const compare = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (!compare) {
      throw new AppError(
        "validation_failed",
        `The filter on ${JSON.stringify(field)} has ${JSON.stringify(operator)}; the operators are ${Object.keys(OPERATORS).join(", ")}`,
        { details: { field, operator } },
      );
    }
    return { field, compare, wanted: operand };
  });
}

function isOperators(wanted: unknown): wanted is Record<string, unknown> {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) return false;
  return Object.keys(wanted).some((key) => key.startsWith("$"));
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function ordered(compare: (a: number | string, b: number | string) => boolean): Compare {
  return (actual, wanted) =>
    (typeof actual === "number" && typeof wanted === "number" && compare(actual, wanted)) ||
    (typeof actual === "string" && typeof wanted === "string" && compare(actual, wanted));
}
