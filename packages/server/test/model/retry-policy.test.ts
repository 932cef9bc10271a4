import { expect, test } from "vitest";
import { DEFAULT_RETRY, readRetryAfter, retryDelay } from "../../src/model/retry-policy.ts";

const most = () => 1;
const least = () => 0;

test("pauses grow up to the longest, and no two callers come back together", () => {
  expect([0, 1, 2, 3, 4, 5, 20].map((attempt) => retryDelay(attempt, undefined, most))).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000,
  ]);
  expect(retryDelay(1, undefined, least)).toBe(500);
});

test("what a provider asks for is a floor, and waited for up to the limit itself", () => {
  const { maxRetryAfterMs } = DEFAULT_RETRY;
  expect(retryDelay(0, 3_000, least)).toBe(3_000);
  expect(retryDelay(0, 3_000, most)).toBe(3_250);
  expect(retryDelay(0, maxRetryAfterMs, least)).toBe(maxRetryAfterMs);
  expect(retryDelay(0, maxRetryAfterMs + 1, least)).toBeUndefined();
});

test.each([
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
  [{ "retry-after-ms": "-1", "retry-after": "9" }, 9_000],
  [{ "retry-after": " 1.5 " }, 1_500],
  [{ "retry-after": "Thu, 01 Jan 1970 00:01:40 GMT" }, 90_000],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:01 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{}, undefined],
])("%j", (headers, ms) => {
  expect(readRetryAfter(new Headers(headers), 10_000)).toBe(ms);
});
