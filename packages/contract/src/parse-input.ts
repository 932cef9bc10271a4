import type { z } from "zod";
import { AppError } from "./app-error.ts";
import type { ErrorCode } from "./error.ts";
import type { ValidationIssue } from "./problem.ts";

const MAX_ECHO_LENGTH = 200;
/** A body may be wrong in a hundred thousand places, and an error that names each would be ten times as large as it. */
const MAX_ISSUES = 100;

// A key of a megabyte would otherwise come back, several times, in the error about it.
function shorten(text: string): string {
  return text.length > MAX_ECHO_LENGTH ? `${text.slice(0, MAX_ECHO_LENGTH).toWellFormed()}…` : text;
}

// For a key zod says only that it is not valid; the reason is one level down.
function reason(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}

function toIssue(where: string, issue: z.core.$ZodIssue): ValidationIssue {
  const path = issue.path.map((key) => (typeof key === "number" ? key : shorten(String(key))));
  return { loc: [where, ...path], msg: shorten(reason(issue)) };
}

// A check may name a code of its own in `params.code`; size checks do, since they are 413 and not 422.
function codeOf(issues: readonly z.core.$ZodIssue[]): ErrorCode {
  const tooLarge = issues.some((issue) => issue.code === "custom" && issue.params?.code === "content_too_large");
  return tooLarge ? "content_too_large" : "validation_failed";
}

/** Parses what a caller sent. Throws AppError with `details.errors: [{loc, msg}]`, one for each of the first things wrong. */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown, where = "body"): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const { issues } = result.error;
  const errors = issues.slice(0, MAX_ISSUES).map((issue) => toIssue(where, issue));
  const summary = errors.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  const more = issues.length > errors.length ? `; and ${issues.length - errors.length} more` : "";
  throw new AppError(codeOf(issues), summary + more, { details: { errors } });
}
