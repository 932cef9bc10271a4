import { inspect } from "node:util";
import { AppError, MAX_LEASE_MS, MAX_TTL_SECONDS } from "@cognition/contract";

const MAX_DURATION_MS = MAX_TTL_SECONDS * 1000;

/**
 * What is counted is checked before it is bound: SQLite would keep a fraction in a whole number's column, take a negative
 * limit for none, and PostgreSQL refuse each with words of its own.
 */
export function requireWhole(field: string, value: unknown, least = 0): void {
  if (Number.isSafeInteger(value) && Number(value) >= least) return;
  throw refused(field, `a whole number from ${least}`, value);
}

export function requireAmount(field: string, value: unknown): void {
  if (Number.isFinite(value) && Number(value) >= 0) return;
  throw refused(field, "a number from 0", value);
}

/** Bounded, since it is added to the clock: a moment past the year 275760 could be stored, and never be read as a time. */
export function requireDuration(field: string, value: unknown, most = MAX_DURATION_MS): void {
  if (Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most) return;
  throw refused(field, `a whole number of milliseconds from 0 to ${most}`, value);
}

/** A longer one would not be believed (`isOver`). */
export function requireLease(field: string, value: unknown): void {
  requireDuration(field, value, MAX_LEASE_MS);
}

export function requireDate(field: string, value: unknown): void {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return;
  throw refused(field, "a valid Date", value);
}

export function requireOneOf(field: string, value: unknown, known: readonly string[]): void {
  if (typeof value === "string" && known.includes(value)) return;
  throw refused(field, `one of ${known.join(", ")}`, value);
}

export function requireTexts(field: string, value: unknown): void {
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return;
  throw refused(field, "a list of texts", value);
}

function refused(field: string, must: string, value: unknown): AppError {
  return new AppError(
    "validation_failed",
    `${field} must be ${must}, not ${inspect(value, { depth: 0, maxStringLength: 100 })}`,
    {
      details: { errors: [{ loc: [field], msg: `must be ${must}` }] },
    },
  );
}
