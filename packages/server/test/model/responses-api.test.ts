import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelCallRecord } from "../../src/model/call-sources.ts";
import { usageOf } from "../../src/model/usage.ts";
import { modelOf, registry } from "./providers.ts";
import { openScriptedServer, type Piece, type ScriptedServer } from "./scripted-server.ts";

/** OpenAI's Responses API, streamed: https://platform.openai.com/docs/api-reference/responses-streaming */
const event = (data: { type: string } & Record<string, unknown>): Piece => ({
  type: "raw",
  data: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`,
});
const state = (status: string, more: object = {}) => ({ id: "resp_1", model: "gpt-5.6", status, output: [], ...more });
const created = event({ type: "response.created", response: state("in_progress") });
const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const completed = event({ type: "response.completed", response: state("completed", { usage }) });
const delta = (type: string, words: string) => event({ type, item_id: "m", content_index: 0, delta: words });
const text = (words: string) => delta("response.output_text.delta", words);
const failed = (code: string, message: string) =>
  event({ type: "response.failed", response: state("failed", { error: { code, message } }) });

let server: ScriptedServer;
beforeEach(async () => {
  server = await openScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

/** Only OpenAI itself has this protocol, so its own address leads to the server here. */
function openai(onCall?: (record: ModelCallRecord) => void) {
  const here: typeof fetch = (input, init) => fetch(String(input).replace("https://api.openai.com", server.url), init);
  const made = registry([], { env: { OPENAI_API_KEY: "sk-test" }, fetch: here, ...(onCall && { onCall }) });
  return modelOf(made, { message: { model: "gpt-5.6" } });
}

function answers(...each: Piece[][]) {
  server.script(...each.map((pieces) => ({ type: "stream" as const, pieces })));
}

describe("an answer that fails in its stream", () => {
  test("is asked for again, and told with the provider's reason in the end", async () => {
    answers([created, failed("server_error", "The model has stumbled.")]);
    await expect((await openai()).invoke("hi")).rejects.toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("after 3 attempts: The model has stumbled. What"),
    });
    expect(server.requests).toHaveLength(3);
  });

  test.each([
    [created, failed("context_length_exceeded", "Your input exceeds the context window of this model.")],
    [event({ type: "error", error: { message: "Your input exceeds the context window of this model." } })],
  ])("as it is too long is told as such, once and without another attempt", async (...pieces) => {
    answers(pieces);
    await expect((await openai()).invoke("hi")).rejects.toMatchObject({
      code: "context_overflow",
      message: expect.stringMatching(/provider openai: Your input exceeds the context window of this model\. What/),
    });
    expect(server.requests).toHaveLength(1);
  });
});

test("a refusal in words is the answer", async () => {
  const refusal = "I can't help with that.";
  const done = event({ type: "response.refusal.done", item_id: "m", content_index: 0, refusal });
  answers([created, delta("response.refusal.delta", refusal), done, completed]);
  const reply = await (await openai()).invoke("hi");
  expect(reply.text).toBe(refusal);
  expect(usageOf(reply)).toMatchObject({ output_tokens: 5, estimated: false });
});

test("an estimate of an answer that was cut off counts its words, not the form of its pieces", async () => {
  const used: number[] = [];
  const model = await openai(({ usage }) => used.push(usage?.output_tokens ?? 0));
  answers([created, ...Array.from({ length: 40 }, () => text("word"))]);
  await expect(model.invoke("hi")).rejects.toThrow();
  answers([created]);
  await expect(model.invoke("hi")).rejects.toThrow();
  expect(used).toEqual([40, 0, 0, 0]);
});
