import { isAppError } from "@cognition/contract";

/**
 * LangChain wraps what goes wrong inside of a middleware, and LangGraph what does so in several nodes at once; what it was, and its
 * code, is further in.
 */
export function causeOf(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isAppError(at)) return at;
    if (at instanceof AggregateError) return at.errors.map(causeOf).find((one) => isAppError(one)) ?? at;
  }
  return error;
}
