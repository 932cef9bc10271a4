import { inspect } from "node:util";

/** Whether it is an error of the system with one of these codes, such as ENOENT. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** What was thrown, in words. Anything can be thrown: null, or what has no text of its own. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : inspect(error, { depth: 2, customInspect: false });
}
