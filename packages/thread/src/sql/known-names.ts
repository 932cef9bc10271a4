import { AppError } from "@cognition/contract";

/**
 * Refuses a name that is none of those a filter, a reader or a page has. A misspelt one must not be taken for none: what
 * was to be narrowed would show everything, of every scope.
 */
export function requireKnown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new AppError("validation_failed", `${what} can't be asked for by ${unknown}; by ${known.join(", ")}`);
}
