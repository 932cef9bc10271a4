import { isAppError } from "@cognition/contract";

/** LangChain wraps what goes wrong inside of a middleware; what it was, and its code, is further in. */
export function causeOf(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) if (isAppError(at)) return at;
  return error;
}
