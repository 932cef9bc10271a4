import { type AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelCallRecord } from "../../src/model/call-sources.ts";
import { usageOf } from "../../src/model/usage.ts";
import { openai as completions } from "./openai-server.ts";
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
function openai(onCall?: (record: ModelCallRecord) => void, model = "gpt-5.6") {
  const here: typeof fetch = (input, init) => fetch(String(input).replace("https://api.openai.com", server.url), init);
  const made = registry([], { env: { OPENAI_API_KEY: "sk-test" }, fetch: here, ...(onCall && { onCall }) });
  return modelOf(made, { message: { model } });
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

/** As OpenAI tells a thought, a remark and a call, with the whole request once more at the end. */
const thought = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "Hm." }],
  encrypted_content: "gAAA",
};
const remark = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  phase: "commentary",
  content: [{ type: "output_text", text: "I look.", annotations: [] }],
};
const call = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_1",
  name: "look",
  arguments: "{}",
};
const tools = [{ type: "function", name: "look", parameters: { type: "object", description: "x".repeat(10_000) } }];
const added = (output_index: number, item: object) => event({ type: "response.output_item.added", output_index, item });
const summed = (words: string) =>
  event({ type: "response.reasoning_summary_text.delta", item_id: "rs_1", summary_index: 0, delta: words });
const ends = (...output: object[]) =>
  event({ type: "response.completed", response: state("completed", { usage, tools, output }) });
const calling = [
  created,
  added(0, { ...thought, summary: [] }),
  summed("Hm."),
  event({ type: "response.output_item.done", output_index: 0, item: thought }),
  added(1, { ...remark, content: [] }),
  text("I look."),
  added(2, { ...call, arguments: "" }),
  event({ type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: "{}" }),
  ends(thought, remark, call),
];

const asked = new HumanMessage("hi");
const looked = new ToolMessage({ tool_call_id: "call_1", name: "look", content: "seen" });
const result = { type: "function_call_output", call_id: "call_1", output: "seen" };
const answered = async () => (await (await openai()).invoke([asked])) as AIMessage;
const sent = (at: number) => server.requests[at]?.body as { input: object[] };

describe("a thread holds all that its next answer needs", () => {
  test("thoughts are sent back whole, and nothing is kept at OpenAI", async () => {
    answers(calling, [created, text("done"), completed]);
    const answer = await answered();
    expect(answer).toMatchObject({ tool_calls: [{ id: "call_1", name: "look", args: {} }] });
    await (await openai()).invoke([asked, answer, looked]);
    expect(server.requests[0]?.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    expect(sent(1).input.slice(1)).toEqual([thought, remark, call, result]);
  });

  test("but not the request, which comes back with each answer", async () => {
    answers(calling);
    expect(JSON.stringify(await answered())).not.toContain("xxx");
  });

  test.each([
    [404, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."],
    [400, "The encrypted content gAAA could not be verified."],
    [400, "Encrypted content is not supported with this model."],
  ])("thoughts that OpenAI does not know any more are left out: %i %s", async (status, message) => {
    answers(calling);
    const answer = await answered();
    server.script(completions.fails(status, message, "invalid_request_error"), {
      type: "stream",
      pieces: [created, text("done"), completed],
    });
    const next = await (await openai()).invoke([asked, answer, looked]);
    expect(next.text).toBe("done");
    const { id: _i, status: _s, ...said } = remark;
    const { id: _id, status: _status, ...called } = call;
    expect(sent(2).input.slice(1)).toEqual([said, called, result]);
    expect(sent(2)).not.toHaveProperty("include");
  });

  test("to a model that is asked by Chat Completions goes what was said and called", async () => {
    answers(calling);
    const answer = await answered();
    answers([created, added(0, call), ends({ ...thought, summary: [] }, call)]);
    const silent = await answered();
    server.script(completions.says("done"));
    const again = new ToolMessage({ ...looked, content: "seen" });
    await (await openai(undefined, "gpt-5.4")).invoke([asked, answer, looked, silent, again, asked]);
    const called = [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }];
    expect(server.requests[2]?.body["messages"]).toMatchObject([
      { content: "hi" },
      { role: "assistant", content: "I look.", tool_calls: called },
      { role: "tool" },
      { role: "assistant", content: "", tool_calls: called },
      { role: "tool" },
      { role: "user" },
    ]);
  });
});

test("a call that must be made is asked for as such, and what its tool can do without is no duty", async () => {
  answers(calling);
  const model = await openai();
  const parameters = { type: "object", properties: { depth: { type: "number" } } };
  await model
    .bindTools?.([{ type: "function", function: { name: "look", parameters } }], { tool_choice: "any" })
    .invoke([asked]);
  expect(server.requests[0]?.body).toMatchObject({
    tool_choice: "required",
    tools: [{ name: "look", parameters, strict: false }],
  });
});
