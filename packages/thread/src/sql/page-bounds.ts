import { inspect } from "node:util";
import { AppError } from "@cognition/contract";

export interface Page {
  limit?: number | undefined;
  offset?: number | undefined;
}

/** SQLite knows no offset without a limit, so "all" is a limit too. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export function pageBounds({ limit, offset = 0 }: Page, defaultLimit = NO_LIMIT): { limit: number; offset: number } {
  return { limit: bound("limit", limit ?? defaultLimit), offset: bound("offset", offset) };
}

function bound(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  const msg = `${field} must be a whole number from 0`;
  throw new AppError("validation_failed", `${msg}, not ${value}`, {
    details: { errors: [{ loc: ["page", field], msg }] },
  });
}

/** Which end of a list comes first. Checked here, since each reader would make something else of another word. */
export function pageOrder(order: unknown, usual: "asc" | "desc"): "asc" | "desc" {
  if (order === undefined) return usual;
  if (order === "asc" || order === "desc") return order;
  const msg = 'order must be "asc" or "desc"';
  throw new AppError("validation_failed", `${msg}, not ${inspect(order, { depth: 0, maxStringLength: 100 })}`, {
    details: { errors: [{ loc: ["page", "order"], msg }] },
  });
}
