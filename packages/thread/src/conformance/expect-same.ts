import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/**
 * `toStrictEqual` for thousands of large values. Node, which is at least as strict, sees in a fraction of the time that they are
 * the same; what it holds different is compared, and told, by `expect`.
 */
export function expectSame(actual: unknown, expected: unknown, name?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, name).toStrictEqual(expected);
}
