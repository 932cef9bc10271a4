import { expect, it } from "vitest";
import { type ModelHooks, RunCallbacks } from "../../src/runtime/run-callbacks.ts";

const hooks = (handleLLMEnd: ModelHooks["handleLLMEnd"]): ModelHooks => ({
  handleChatModelStart: () => undefined,
  handleLLMNewToken: () => undefined,
  handleLLMEnd,
  handleLLMError: () => undefined,
});

it("a listener that fails keeps no other from hearing, and its failure is told", async () => {
  const heard: string[] = [];
  const failing = hooks(() => {
    throw new Error("can't count that");
  });
  const callbacks = new RunCallbacks({ models: [failing, hooks((_output, id) => void heard.push(id))] });
  await expect(callbacks.handleLLMEnd({ generations: [] }, "call")).rejects.toThrow("can't count that");
  expect(heard).toEqual(["call"]);
});
