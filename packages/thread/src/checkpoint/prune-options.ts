import { inspect } from "node:util";
import { AppError } from "@cognition/contract";
import { threadIdOf } from "./checkpoint-place.ts";
import type { PruneOptions } from "./prune.ts";

type Option = keyof PruneOptions;

const CHECKS: Record<Option, { must: string; holds: (value: unknown) => boolean }> = {
  thread_id: { must: "be the id of a thread", holds: (value) => value !== undefined && threadIdOf(value) !== "" },
  keep_last: { must: "be a whole number from 1", holds: (value) => Number.isSafeInteger(value) && Number(value) >= 1 },
  keep_undone: {
    must: "be a whole number from 0",
    holds: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
  before: { must: "be a valid Date", holds: (value) => value instanceof Date && !Number.isNaN(value.getTime()) },
  signal: { must: "be an AbortSignal", holds: (value) => value instanceof AbortSignal },
};

/**
 * What is not understood must not be taken for "all": a name that is misspelt, or a variable that holds nothing, would
 * remove the history of every thread.
 */
export function checkPruneOptions(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as Option] : undefined;
    if (!check) throw refused(`prune has no option ${name}; it takes ${Object.keys(CHECKS).join(", ")}`);
    if (!check.holds(value)) throw refused(`prune's ${name} must ${check.must}, not ${inspect(value, { depth: 0 })}`);
  }
}

function refused(what: string): AppError {
  return new AppError("validation_failed", `${what}. Nothing was removed.`);
}
