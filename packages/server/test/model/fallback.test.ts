import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ModelCallRecord } from "../../src/model/call-sources.ts";
import type { Clock } from "../../src/model/clock.ts";
import { createModelRegistry } from "../../src/model/model-registry.ts";
import { originOf } from "../../src/model/usage.ts";
import { KEY, modelOf, PROTOCOLS, type Protocol, provider, registry } from "./providers.ts";
import { openScriptedServer, type ScriptedServer } from "./scripted-server.ts";

const [openai, anthropic] = PROTOCOLS as readonly [Protocol, Protocol];
let one: ScriptedServer;
let two: ScriptedServer;

beforeEach(async () => {
  one = await openScriptedServer();
  two = await openScriptedServer();
});
afterEach(async () => {
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});

const both = (options = {}) =>
  registry(
    [
      provider(openai, one.url, { priority: 1, max_retries: 0 }),
      provider(anthropic, two.url, { priority: 2, max_retries: 0 }),
    ],
    { fallback: true, ...options },
  );

describe("fallback", () => {
  test("goes to the next provider, tools and all, and says so in the message", async () => {
    one.script(openai.fails(503, "overloaded"));
    two.script(anthropic.calls("c1", "ping", "{}"));
    const model = await modelOf(both());
    const bound = model.bindTools?.([
      {
        type: "function",
        function: { name: "ping", description: "p", parameters: { type: "object", properties: {} } },
      },
    ]);
    const reply = await bound?.invoke("hi");
    expect(reply?.tool_calls).toMatchObject([{ name: "ping", args: {} }]);
    expect(reply && originOf(reply)).toMatchObject({ provider_id: "anthropic", fallback_from: ["openai"] });
    expect(JSON.stringify(two.requests[0]?.body["tools"])).toContain("input_schema");
  });

  test("happens only where it is configured", async () => {
    one.script(openai.fails(503, "overloaded"));
    await expect((await modelOf(both({ fallback: false }))).invoke("hi")).rejects.toMatchObject({
      code: "model_failed",
    });
    expect(two.requests).toHaveLength(0);
  });

  test("never happens after the first word was given out", async () => {
    one.script({ type: "stream", pieces: [...openai.begins("Half"), { type: "reset" }] });
    two.script(anthropic.says("Whole"));
    await expect((await modelOf(both())).invoke("hi")).rejects.toMatchObject({ code: "model_failed" });
    expect(two.requests).toHaveLength(0);
  });

  test("is no help against what the caller did wrong", async () => {
    one.script(openai.overflow);
    await expect((await modelOf(both())).invoke("hi")).rejects.toMatchObject({ code: "context_overflow" });
    expect(two.requests).toHaveLength(0);
  });

  test.each([
    ["whose model is gone", anthropic.fails(404, "model: claude-haiku-4-5")],
    ["with less room", anthropic.overflow],
  ])("%s is no reason to leave out the next", async (_name, refusal) => {
    await using three = await openScriptedServer();
    one.script(openai.fails(503, "overloaded"));
    two.script(refusal);
    three.script(openai.says("Here"));
    const fallbacks = [
      provider(openai, one.url, { priority: 1, max_retries: 0 }),
      provider(anthropic, two.url, { priority: 2, max_retries: 0 }),
      provider(openai, three.url, { id: "third", priority: 3, max_retries: 0 }),
    ];
    const reply = await (await modelOf(registry(fallbacks, { fallback: true }))).invoke("hi");
    expect(reply.text).toBe("Here");
    expect(originOf(reply)).toMatchObject({ provider_id: "third", fallback_from: ["openai", "anthropic"] });
  });

  test("that fails too is told with both reasons, under the first one's code", async () => {
    one.script(openai.fails(429, "slow down", { "retry-after": "999" }));
    two.script(anthropic.fails(500, "boom"));
    await expect((await modelOf(both())).invoke("hi")).rejects.toMatchObject({
      code: "model_rate_limited",
      message: expect.stringMatching(/openai.*slow down.*Fallback.*anthropic.*boom.*kept/s),
      details: {
        provider_id: "openai",
        status: 429,
        retry_after_ms: 999_000,
        fallbacks: [{ provider_id: "anthropic", code: "model_failed" }],
      },
    });
  });

  test("spares a provider whose breaker is open", async () => {
    one.script(openai.fails(500, "boom"));
    two.script(anthropic.says("ok"));
    const made = both({ breaker: { failureThreshold: 2 } });
    const model = await modelOf(made);
    for (let call = 0; call < 4; call++) expect((await model.invoke("hi")).text).toBe("ok");
    expect(one.requests).toHaveLength(2);
    expect(await made.circuitBreakers()).toEqual({
      openai: { state: "open", total_calls: 2, failed_calls: 2, consecutive_failures: 2 },
      anthropic: { state: "closed", total_calls: 4, failed_calls: 0, consecutive_failures: 0 },
    });
  });
});

describe("the breaker around real calls", () => {
  test("opens at five failures, refuses without a request, and closes again after its trials", async () => {
    let time = 0;
    const clock: Clock = { now: () => time, sleep: async () => undefined };
    const made = registry([provider(openai, one.url, { max_retries: 0 })], { clock });
    const model = await modelOf(made);
    one.script(openai.fails(500, "boom"));
    for (let call = 0; call < 5; call++)
      await expect(model.invoke("hi")).rejects.toMatchObject({ code: "model_failed" });
    await expect(model.invoke("hi")).rejects.toMatchObject({
      code: "circuit_open",
      details: { retry_after_ms: 60_000 },
    });
    expect(one.requests).toHaveLength(5);
    time = 60_000;
    one.script(openai.says("ok"));
    for (let call = 0; call < 3; call++) await model.invoke("hi");
    expect(await made.circuitBreakers()).toMatchObject({
      openai: { state: "closed", total_calls: 8, failed_calls: 5 },
    });
  });

  test("gives the place of a trial that was aborted to the next", async () => {
    let time = 0;
    const clock: Clock = { now: () => time, sleep: async () => undefined };
    const breaker = { failureThreshold: 1, openMs: 1_000, halfOpenCalls: 1, successThreshold: 1 };
    const made = registry([provider(openai, one.url, { max_retries: 0 })], { clock, breaker });
    const model = await modelOf(made);
    one.script(openai.fails(500, "boom"), { type: "stream", pieces: [{ type: "hang" }] }, openai.says("ok"));
    await expect(model.invoke("hi")).rejects.toMatchObject({ code: "model_failed" });
    time = 1_000;
    const abort = new AbortController();
    const trial = expect(model.invoke("hi", { signal: abort.signal })).rejects.toThrow();
    await expect.poll(() => one.requests).toHaveLength(2);
    abort.abort(new Error("stop"));
    await trial;
    expect((await model.invoke("hi")).text).toBe("ok");
    expect(await made.circuitBreakers()).toMatchObject({ openai: { state: "closed", failed_calls: 1 } });
  });

  test("is open for its time, also when the time of day is put back meanwhile", async () => {
    const made = createModelRegistry({
      env: { TEST_KEY: KEY },
      keyHosts: { TEST_KEY: ["127.0.0.1"] },
      providers: [provider(openai, one.url, { max_retries: 0 })],
      breaker: { failureThreshold: 1, openMs: 50 },
    });
    one.script(openai.fails(500, "boom"));
    await expect((await modelOf(made)).invoke("hi")).rejects.toMatchObject({ code: "model_failed" });
    const now = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now - 3 * 3_600_000);
    onTestFinished(() => clock.mockRestore());
    await expect
      .poll(async () => (await made.circuitBreakers())["openai"]?.state, { timeout: 5_000 })
      .toBe("half_open");
  });

  test("is not opened by wrong keys, wrong models and bad requests", async () => {
    const made = registry([provider(openai, one.url)]);
    const model = await modelOf(made);
    for (const status of [400, 401, 403, 404, 422]) {
      one.script(openai.fails(status, "your fault"));
      await expect(model.invoke("hi")).rejects.toThrow();
    }
    expect(one.requests).toHaveLength(5);
    expect(await made.circuitBreakers()).toMatchObject({ openai: { state: "closed", consecutive_failures: 0 } });
  });
});

test("every attempt is recorded with what it cost and how it ended", async () => {
  one.script(openai.fails(500, "boom"), openai.says("a", "b"));
  const records: ModelCallRecord[] = [];
  const model = await modelOf(registry([provider(openai, one.url)], { onCall: (record) => records.push(record) }));
  await model.invoke("hi");
  expect(records).toMatchObject([
    { attempt: 1, outcome: "failed", usage: null, error: { code: "model_failed", status: 500 } },
    { attempt: 2, outcome: "succeeded", usage: { input_tokens: 10, output_tokens: 2 }, error: null },
  ]);
});

test("an abort while it waits for the next attempt is honoured at once", async () => {
  one.script(openai.fails(429, "slow", { "retry-after": "30" }));
  const abort = new AbortController();
  const clock: Clock = {
    now: () => 0,
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        abort.abort(new Error("stop"));
      }),
  };
  const model = await modelOf(registry([provider(openai, one.url)], { clock }));
  await expect(model.invoke("hi", { signal: abort.signal })).rejects.toThrow();
  expect(one.requests).toHaveLength(1);
});
