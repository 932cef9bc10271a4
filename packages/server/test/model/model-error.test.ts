import { expect, it } from "vitest";
import { readFailure } from "../../src/model/model-error.ts";

class ProviderError extends Error {}

const told = (message: string) => readFailure(new ProviderError(message), 0, (text) => text);

it.each([
  ['{"type":"error","error":{"type":"overloaded_error","message":"Over\\nloaded"}}', "Over\nloaded"],
  ['{"error":{"message":"Too hot","details":[{"message":"inside"}]}}', "Too hot"],
  ['{"message":"a line\nand another"}', '{"message":"a line\nand another"}'],
  ['{"message":"cut \\q"} and more', '{"message":"cut \\q"} and more'],
  ['{"error":"plain","code":7}', '{"error":"plain","code":7}'],
])("the words in a provider's error are told, or all of it where they can't be read: %j", (message, words) => {
  expect(told(message)).toMatchObject({ code: "model_failed", message: words, retryable: true });
});

const failed = (message: string, fields: object = {}) =>
  readFailure(Object.assign(new ProviderError(message), fields), 0, (text) => text.replaceAll("hunter2", "[key]"));

it.each([
  ["a limit of tokens for a minute, which passes", "Too many tokens per minute", 429, "model_rate_limited", true],
  ["a quota that is used up", "You exceeded your current quota", 429, "model_rate_limited", false],
  ["a key that its billing does not cover", "Billing hard limit reached", 403, "model_auth_failed", false],
  ["a conversation too long", "maximum context length", 400, "context_overflow", false],
  ["a server's trouble with its context window", "no context window today", 500, "model_failed", true],
])("%s", (_name, message, status, code, retryable) => {
  expect(failed(message, { status })).toMatchObject({ code, status, retryable });
});

it("what refuses a key is not told in its words, and nothing is told with a key in it", () => {
  expect(failed("wrong key hunter2", { status: 401 }).message).toBe("");
  expect(failed("no such model for hunter2", { status: 404 }).message).toBe("no such model for [key]");
});

it("a package's error of its own is final; with a cause it is the network's, and the cause may know the status", () => {
  const wrapped = (cause: Error) => readFailure(new Error("fetch failed", { cause }), 0, (text) => text);
  expect(readFailure(new Error("temperature must be a number"), 0, (text) => text)).toMatchObject({ retryable: false });
  expect(wrapped(new Error("ECONNRESET"))).toMatchObject({ code: "model_failed", retryable: true });
  const status = Object.assign(new Error("gone"), { status: 404 });
  expect(wrapped(status)).toMatchObject({ code: "unknown_model", status: 404, retryable: false });
});
