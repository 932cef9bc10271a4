import { AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { estimateCost, PRICE_LISTS } from "../../src/model/price-table.ts";
import { estimateMessageTokens } from "../../src/model/token-estimate.ts";
import { addUsage, type CallUsage, reportedUsage, usageOf } from "../../src/model/usage.ts";
import { anthropic } from "./anthropic-server.ts";
import { openai } from "./openai-server.ts";
import { modelOf, PROTOCOLS, type Protocol, provider, registry } from "./providers.ts";
import { openScriptedServer, type ScriptedServer } from "./scripted-server.ts";

const [overOpenai, overAnthropic] = PROTOCOLS as readonly [Protocol, Protocol];
let server: ScriptedServer;
beforeEach(async () => {
  server = await openScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

test("a cost is of what is charged for: never less than nothing, and no cache where writing it is free", () => {
  const cost = (given: object) =>
    estimateCost({ provider: "openai", model: "gpt-5.4", input_tokens: 10, output_tokens: 0, ...given });
  expect(cost({ cache_read_tokens: 30 })).toBeCloseTo((30 * 0.25) / 1e6, 12);
  expect(cost({ cache_creation_tokens: 4 })).toBeCloseTo((10 * 2.5) / 1e6, 12);
});

describe("usage", () => {
  test("of OpenAI counts cached and reasoning tokens, and the reasoning itself streams", async () => {
    server.script(
      openai.stream(
        openai.start,
        openai.reasoning("Hm. "),
        openai.reasoning("Yes."),
        openai.text("ok"),
        openai.finish("stop"),
        openai.usage(100, 50, 60, 40),
        openai.done,
      ),
    );
    const reply = await (await modelOf(registry([provider(overOpenai, server.url)]))).invoke("hi");
    expect(usageOf(reply)).toMatchObject({
      input_tokens: 100,
      output_tokens: 50,
      cache_read_tokens: 60,
      reasoning_tokens: 40,
      model: "gpt-5.4-2026-03-05",
    });
    expect(usageOf(reply)?.estimated_cost).toBeCloseTo((40 * 2.5 + 60 * 0.25 + 50 * 15) / 1e6, 12);
    expect(reply.additional_kwargs["reasoning_content"]).toBe("Hm. Yes.");
  });

  test("of Anthropic takes the last count of output tokens, which holds the first one's", async () => {
    server.script(
      anthropic.stream(
        anthropic.start(20, 70, 10),
        ...anthropic.thinkingBlock(0, "Hm. ", "Yes."),
        ...anthropic.textBlock(1, "ok"),
        ...anthropic.end(42),
      ),
    );
    const chat = await modelOf(registry([provider(overAnthropic, server.url)]));
    const bound = chat.bindTools?.([
      { type: "function", function: { name: "t", description: "t", parameters: { type: "object", properties: {} } } },
    ]);
    const reply = await bound?.invoke("hi");
    expect(reply && usageOf(reply)).toMatchObject({
      input_tokens: 100,
      output_tokens: 42,
      cache_read_tokens: 70,
      cache_creation_tokens: 10,
    });
    expect(reply?.content).toMatchObject([
      { type: "thinking", thinking: "Hm. Yes." },
      { type: "text", text: "ok" },
    ]);
    expect(reply && usageOf(reply)?.estimated_cost).toBeCloseTo((20 * 1 + 70 * 0.1 + 10 * 1.25 + 42 * 5) / 1e6, 12);
  });

  test("that a provider does not report is estimated, and marked so", async () => {
    server.script(openai.stream(openai.start, openai.text("some words"), openai.finish("stop"), openai.done));
    const reply = await (await modelOf(registry([provider(overOpenai, server.url)]))).invoke("hi there");
    expect(usageOf(reply)).toMatchObject({ estimated: true, output_tokens: 3 });
    expect(usageOf(reply)?.input_tokens).toBeGreaterThan(0);
  });

  test.each<[string, unknown]>([
    ["fractions", { prompt_tokens: 5.5, completion_tokens: 2.5, total_tokens: 8 }],
    ["less than nothing", { prompt_tokens: -5, completion_tokens: 10, total_tokens: 5 }],
    ["texts", { prompt_tokens: "5", completion_tokens: "2", total_tokens: "7" }],
    ["objects", { prompt_tokens: {}, completion_tokens: [], total_tokens: null }],
    ["more than any model reads", { prompt_tokens: 9e18, completion_tokens: 1, total_tokens: 9e18 }],
    ["half of them", { prompt_tokens: 5 }],
  ])("that can't be true (%s) counts as not reported", async (_name, usage) => {
    const pieces = [openai.start, openai.text("some words"), openai.finish("stop")];
    const told = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage };
    const frame = { type: "raw", data: `data: ${JSON.stringify(told)}\n\n` } as const;
    server.script(openai.stream(...pieces, frame, openai.done));
    const reply = await (await modelOf(registry([provider(overOpenai, server.url)]))).invoke("hi there");
    expect(usageOf(reply)).toMatchObject({ estimated: true, output_tokens: 3 });
  });

  test("parts that can't be true are left out of a count that can", async () => {
    const details = {
      prompt_tokens_details: { cached_tokens: -3 },
      completion_tokens_details: { reasoning_tokens: "x" },
    };
    const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, ...details };
    const told = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage };
    const frame = { type: "raw", data: `data: ${JSON.stringify(told)}\n\n` } as const;
    server.script(openai.stream(openai.start, openai.text("ok"), openai.finish("stop"), frame, openai.done));
    const reply = await (await modelOf(registry([provider(overOpenai, server.url)]))).invoke("hi there");
    expect(usageOf(reply)).toMatchObject({
      input_tokens: 7,
      cache_read_tokens: 0,
      reasoning_tokens: 0,
      estimated: false,
    });
  });

  test("that Anthropic does not report is estimated too", async () => {
    const event = (data: { type: string }) =>
      ({ type: "raw", data: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n` }) as const;
    const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-haiku-4-5", content: [] };
    server.script(
      anthropic.stream(
        event({ type: "message_start", ...{ message } }),
        ...anthropic.textBlock(0, "some words"),
        event({ type: "message_delta", ...{ delta: { stop_reason: "end_turn", stop_sequence: null } } }),
        event({ type: "message_stop" }),
      ),
    );
    const reply = await (await modelOf(registry([provider(overAnthropic, server.url)]))).invoke("hi there");
    expect(reply.text).toBe("some words");
    expect(usageOf(reply)).toMatchObject({ estimated: true, output_tokens: 3 });
  });

  test.each(["gpt\0five", "gpt\ud800", "x".repeat(10_000), ""])(
    "names the model that was asked where the provider's name is none (%#)",
    async (model) => {
      const frame = (more: object) =>
        ({
          type: "raw",
          data: `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model, ...more })}\n\n`,
        }) as const;
      const choice = (delta: object, finish_reason: string | null) => ({
        choices: [{ index: 0, delta, finish_reason }],
      });
      server.script(
        openai.stream(
          frame(choice({ role: "assistant", content: "ok" }, null)),
          frame(choice({}, "stop")),
          openai.done,
        ),
      );
      const reply = await (await modelOf(registry([provider(overOpenai, server.url)]))).invoke("hi there");
      expect(usageOf(reply)?.model).toBe(overOpenai.model);
    },
  );

  test("of a model that is not ours is taken only where it can be true", () => {
    const reported = (input_tokens: number, model_name: string) =>
      reportedUsage(
        new AIMessageChunk({
          content: "hi",
          response_metadata: { model_provider: "mine", model_name },
          ...({ usage_metadata: { input_tokens, output_tokens: 1, total_tokens: 1 } } as object),
        }),
      );
    expect(reported(5, "m")).toMatchObject({ input_tokens: 5, model: "m" });
    expect(reported(5, "m\0")).toMatchObject({ input_tokens: 5, model: "unknown" });
    expect(reported(-5, "m")).toBeUndefined();
    expect(reported(1e300, "m")).toBeUndefined();
  });

  test("of several tool calls at once and of an error in the middle of Anthropic's stream", async () => {
    server.script(
      anthropic.stream(
        anthropic.start(),
        ...anthropic.toolBlock(0, "a", "one", '{"x"', ":1}"),
        ...anthropic.toolBlock(1, "b", "two", "{}"),
        ...anthropic.end(9, "tool_use"),
      ),
    );
    const model = await modelOf(registry([provider(overAnthropic, server.url, { max_retries: 0 })]));
    const tools = ["one", "two"].map((name) => ({
      type: "function" as const,
      function: { name, description: name, parameters: { type: "object", properties: {} } },
    }));
    expect((await model.bindTools?.(tools).invoke("hi"))?.tool_calls).toMatchObject([
      { id: "a", name: "one", args: { x: 1 } },
      { id: "b", name: "two", args: {} },
    ]);
    server.script(anthropic.stream(anthropic.start(), anthropic.streamError("overloaded_error", "Overloaded")));
    await expect(model.invoke("hi")).rejects.toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("failed: Overloaded."),
    });
  });

  test("of nothing at all is estimated: it is what some count where they were told nothing", async () => {
    server.script(
      openai.stream(openai.start, openai.text("ok"), openai.finish("stop"), openai.usage(0, 0), openai.done),
    );
    const reply = await (await modelOf(registry([provider(overOpenai, server.url)]))).invoke("hi");
    expect(usageOf(reply)).toMatchObject({ input_tokens: 5, output_tokens: 1, estimated: true });
  });

  test("is undefined for a message that no model of ours made", () => {
    expect(usageOf(new AIMessageChunk("hi"))).toBeUndefined();
  });
});

const call = (model: string, cost: number | null, more: Partial<CallUsage> = {}): CallUsage => ({
  provider_id: "p",
  provider: "openai",
  model,
  input_tokens: 10,
  output_tokens: 5,
  cache_read_tokens: 0,
  cache_creation_tokens: 0,
  reasoning_tokens: 0,
  estimated: false,
  estimated_cost: cost,
  ...more,
});

describe("an estimate", () => {
  test("counts a picture as about what providers count it, whatever its size and its form", () => {
    const data = "A".repeat(4_000_000);
    const forms = [
      { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
      { type: "image", source: { type: "base64", media_type: "image/png", data } },
      { type: "image", mimeType: "image/png", data },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
    ];
    for (const form of forms) {
      const content = [{ type: "text", text: "word ".repeat(80) }, form];
      const tokens = estimateMessageTokens([new HumanMessage({ content: content as never })]);
      expect(tokens).toBeGreaterThan(1_000);
      expect(tokens).toBeLessThan(3_000);
    }
  });
});

describe("the totals of a run", () => {
  test("add up by model", () => {
    const total = [call("a", 1), call("b", 2), call("a", 4)].reduce(
      addUsage,
      undefined as Parameters<typeof addUsage>[0],
    );
    expect(total).toEqual({
      input_tokens: 30,
      output_tokens: 15,
      estimated_cost: 7,
      provider: "openai",
      model: "a",
      by_model: {
        a: { input_tokens: 20, output_tokens: 10, estimated_cost: 5 },
        b: { input_tokens: 10, output_tokens: 5, estimated_cost: 2 },
      },
    });
  });

  test("know a model by its name only, whatever an object has by itself", () => {
    const total = addUsage(addUsage(undefined, call("a", 1)), call("constructor", 2));
    expect(total.by_model["constructor"]).toEqual({ input_tokens: 10, output_tokens: 5, estimated_cost: 2 });
  });

  test("have no cost once one part's is unknown, and say that a part is estimated", () => {
    const total = [call("a", 1, { estimated: true }), call("x", null), call("a", 1)].reduce(
      addUsage,
      undefined as Parameters<typeof addUsage>[0],
    );
    expect(total).toMatchObject({
      estimated_cost: null,
      estimated: true,
      by_model: { a: { estimated_cost: 2 }, x: { estimated_cost: null } },
    });
  });
});

describe("the price table", () => {
  test("names its source and date, and has sane prices", () => {
    for (const { source, as_of, models } of PRICE_LISTS) {
      expect(source).toMatch(/^https:\/\//);
      expect(as_of).toMatch(/^\d{4}-\d{2}$/);
      for (const price of Object.values(models)) expect(price.output).toBeGreaterThan(price.input);
    }
  });

  test("says null for what it does not know, zero only for what is free", () => {
    const tokens = { input_tokens: 1_000_000, output_tokens: 0 };
    expect(estimateCost({ provider: "openai", model: "gpt-5.4-2026-03-05", ...tokens })).toBe(2.5);
    expect(estimateCost({ provider: "openai", model: "gpt-99", ...tokens })).toBeNull();
    expect(estimateCost({ provider: "openai", model: "constructor", ...tokens })).toBeNull();
    expect(estimateCost({ provider: "openai_compatible", model: "gpt-5.4", ...tokens })).toBeNull();
    expect(estimateCost({ provider: "offline", model: "anything", ...tokens })).toBe(0);
  });
});
