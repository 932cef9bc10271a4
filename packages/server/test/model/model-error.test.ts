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
