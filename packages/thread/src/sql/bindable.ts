import { inspect } from "node:util";
import { AppError } from "@cognition/contract";
import type { SqlValue } from "./statement.ts";

/**
 * Refuses what is no `SqlValue`, as it comes from code without types. The drivers would each make something else of it:
 * SQLite's takes an object for a set of named parameters, and moves the rest by one; PostgreSQL's writes an array, a
 * Date or an object as text of its own; NaN is null to one and a number to the other.
 */
export function requireBindable(params: readonly SqlValue[]): void {
  const odd = params.findIndex((param) => !isBindable(param));
  if (odd === -1) return;
  throw new AppError(
    "validation_failed",
    `Where a text or a number belongs there is ${inspect(params[odd], { depth: 0, maxStringLength: 100 })}; nothing was done`,
  );
}

function isBindable(param: unknown): boolean {
  if (typeof param === "string" || param === null) return true;
  return typeof param === "number" ? Number.isFinite(param) : param instanceof Uint8Array;
}
