import { isAppError } from "@cognition/contract";
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { ModelCallRecord } from "../../src/model/call-sources.ts";
import { usageOf } from "../../src/model/usage.ts";
import { KEY, modelOf, PROTOCOLS, provider, registry } from "./providers.ts";
import { openScriptedServer, type ScriptedServer } from "./scripted-server.ts";

async function failure(
  promise: Promise<unknown>,
): Promise<{ code: string; message: string; details: Record<string, unknown> }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isAppError(error)) throw new Error(`expected an AppError, got ${String(error)}`);
  return error;
}

describe.each(PROTOCOLS)("over the $kind protocol", (protocol) => {
  let server: ScriptedServer;
  beforeEach(async () => {
    server = await openScriptedServer();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server[Symbol.asyncDispose]();
  });
  const one = (more = {}) => provider(protocol, server.url, more);

  test("streams the words as they come and tells the usage and who answered", async () => {
    server.script(protocol.says("Hel", "lo ", "there"));
    const model = await modelOf(registry([one()]));
    const words: string[] = [];
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await model.stream("hi")) {
      if (chunk.text) words.push(chunk.text);
      whole = whole ? whole.concat(chunk) : chunk;
    }
    expect(words).toEqual(["Hel", "lo ", "there"]);
    expect(whole?.response_metadata["model_name"]).toMatch(/^(gpt-5.4-2026-03-05|claude-haiku-4-5-20251001)$/);
    expect(whole && usageOf(whole)).toMatchObject({
      provider_id: protocol.kind,
      input_tokens: 10,
      output_tokens: 3,
      estimated: false,
    });
    expect(whole && usageOf(whole)?.estimated_cost).toBeGreaterThan(0);
  });

  test("invoke streams over the wire too, with the parameters and the key", async () => {
    server.script(protocol.says("ok"));
    const model = await modelOf(registry([one()]), { message: { temperature: 0.3 }, session: { max_tokens: 77 } });
    expect((await model.invoke("hi")).text).toBe("ok");
    const [request] = server.requests;
    expect(request?.path).toBe(protocol.path);
    expect(request?.body).toMatchObject({ stream: true, model: protocol.model });
    expect(JSON.stringify(request?.body)).toContain("77");
    expect([request?.headers.authorization, request?.headers["x-api-key"]]).toContain(
      protocol.kind === "openai" ? `Bearer ${KEY}` : KEY,
    );
  });

  test("is sent of a tool's result what it takes, and the rest in words", async () => {
    server.script(protocol.says("ok"));
    const model = await modelOf(registry([one()]));
    const svg = { type: "image", mimeType: "image/svg+xml", data: "PHN2Zz4=" };
    const sound = { type: "audio", mimeType: "audio/wav", data: "AAAA" };
    const content = [
      { type: "text", text: "a dot" },
      svg,
      sound,
      { type: "text", text: 5 },
      { type: "text", text: "" },
    ];
    await model.invoke([
      new HumanMessage("Draw"),
      new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id: "call_1", name: "draw", args: {} }] }),
      new ToolMessage({ tool_call_id: "call_1", content: content as unknown as string }),
    ]);
    const body = server.requests[0]?.body as { messages: { content: unknown }[] } | undefined;
    const sent = body?.messages.at(-1)?.content;
    const blocks = protocol.kind === "openai" ? sent : (sent as { content: unknown }[])[0]?.content;
    expect(blocks).toEqual([
      { type: "text", text: "a dot" },
      { type: "text", text: expect.stringContaining("image of image/svg+xml") },
      { type: "text", text: expect.stringContaining("audio of audio/wav") },
      { type: "text", text: "5" },
      { type: "text", text: "(empty)" },
    ]);
  });

  test("is sent no half of a character, which it refuses as no JSON, and a text that spells one as it is", async () => {
    server.script(protocol.says("ok"));
    const model = await modelOf(registry([one()]));
    const spelled = "\\ud800 \\\\ud800";
    await model.invoke([
      new HumanMessage(`\ud800\ud83d\ude00 ${spelled}`),
      new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id: "call_1", name: "draw", args: {} }] }),
      new ToolMessage({ tool_call_id: "call_1", content: "cut\ud83d" }),
      new HumanMessage({ content: [{ type: "text", text: "\udc00" }] }),
    ]);
    const sent = JSON.stringify(server.requests[0]?.body["messages"]);
    expect(JSON.parse(sent)[0].content).toBe(`\ufffd\ud83d\ude00 ${spelled}`);
    expect(sent).toContain("cut\ufffd");
    expect(sent.replaceAll(JSON.stringify(spelled).slice(1, -1), "")).not.toContain("\\ud");
  });

  test("puts tool calls that come in pieces together, inside a real agent", async () => {
    server.script(
      protocol.calls("call_1", "get_weather", '{"ci', 'ty":"Pa', 'ris"}'),
      protocol.says("Sunny ", "in Paris"),
    );
    const seen: unknown[] = [];
    const weather = tool(
      ({ city }) => {
        seen.push(city);
        return "sunny";
      },
      { name: "get_weather", description: "The weather", schema: z.object({ city: z.string() }) },
    );
    const agent = createAgent({ model: await modelOf(registry([one()])), tools: [weather] });
    const tokens: string[] = [];
    let last = "";
    for await (const [mode, data] of await agent.stream(
      { messages: [{ role: "user", content: "weather?" }] },
      { streamMode: ["messages", "values"] },
    )) {
      if (mode === "messages" && AIMessageChunk.isInstance(data[0]) && data[0].text) tokens.push(data[0].text);
      if (mode === "values") last = data.messages.at(-1)?.text ?? "";
    }
    expect(seen).toEqual(["Paris"]);
    expect(last).toBe("Sunny in Paris");
    expect(tokens.join("")).toContain("Sunny in Paris");
    expect(JSON.stringify(server.requests[0]?.body["tools"])).toContain("get_weather");
  });

  test("gives structured output through the tool that it forces", async () => {
    server.script(protocol.calls("call_1", "extract", '{"name":"Ada"}'));
    const model = await modelOf(registry([one()]));
    expect(await model.withStructuredOutput(z.object({ name: z.string() })).invoke("I am Ada")).toEqual({
      name: "Ada",
    });
    expect(JSON.stringify(server.requests[0]?.body["tool_choice"])).toContain("extract");
  });

  test("a stream that is cut in the middle is an error, never a short answer", async () => {
    for (const cut of ["reset", "close"] as const) {
      server.script({ type: "stream", pieces: [...protocol.begins("Half"), { type: cut }] });
      const model = await modelOf(registry([one()]));
      const words: string[] = [];
      const reading = (async () => {
        for await (const chunk of await model.stream("hi")) words.push(chunk.text);
      })();
      const error = await failure(reading);
      expect(error.code).toBe("model_failed");
      expect(error.message).toContain("cut off");
      expect(words.join("")).toBe("Half");
    }
    // Half of an answer was given out each time, so neither was asked for again.
    expect(server.requests).toHaveLength(2);
  });

  test("a stream that is cut before its first word is asked for again", async () => {
    server.script(
      { type: "stream", pieces: [...protocol.opens, { type: "close" }] },
      { type: "stream", pieces: [{ type: "reset" }] },
      protocol.says("whole"),
    );
    expect((await (await modelOf(registry([one()]))).invoke("hi")).text).toBe("whole");
    expect(server.requests).toHaveLength(3);
  });

  test("waits as long as Retry-After asks on 429, then goes on", async () => {
    server.script(protocol.fails(429, "slow down", { "retry-after": "7" }), protocol.says("ok"));
    const made = registry([one()]);
    expect((await (await modelOf(made)).invoke("hi")).text).toBe("ok");
    expect(made.waits).toEqual([7_000]);
  });

  test("does not wait for a Retry-After of an hour", async () => {
    server.script(protocol.fails(429, "slow down", { "retry-after": "3600" }));
    const made = registry([one()]);
    const error = await failure((await modelOf(made)).invoke("hi"));
    expect(error).toMatchObject({ code: "model_rate_limited", details: { retry_after_ms: 3_600_000 } });
    expect(error.message).toContain("3600 s");
    expect(made.waits).toEqual([]);
  });

  test("retries 500 with growing pauses, then says what happened and what was kept", async () => {
    server.script(protocol.fails(500, "boom"));
    const made = registry([one()]);
    const error = await failure((await modelOf(made)).invoke("hi"));
    expect(error.code).toBe("model_failed");
    expect(error.message).toMatch(/500.*3 attempts.*boom.*kept/s);
    expect(server.requests).toHaveLength(3);
    expect(made.waits).toEqual([250, 500]);
  });

  test("never shows the key, however the provider quotes it", async () => {
    server.script(protocol.fails(401, `Incorrect API key provided: ${KEY}.`));
    const error = await failure((await modelOf(registry([one()]))).invoke("hi"));
    expect(error).toMatchObject({ code: "model_auth_failed" });
    expect(error.message).toContain("TEST_KEY");
    server.script(protocol.fails(400, `bad request with ${KEY} and sk-test-********cret`));
    const other = await failure((await modelOf(registry([one()]))).invoke("hi"));
    for (const told of [error, other]) {
      expect(`${told.message} ${JSON.stringify(told)} ${JSON.stringify(told.details)}`).not.toMatch(
        /very-secret|\*cret|0123456789/,
      );
    }
    expect(server.requests).toHaveLength(2);
  });

  test("tells a conversation that is too long as such, without a retry", async () => {
    server.script(protocol.overflow);
    const made = registry([one()]);
    expect((await failure((await modelOf(made)).invoke("hi"))).code).toBe("context_overflow");
    expect(server.requests).toHaveLength(1);
    expect(await made.circuitBreakers()).toMatchObject({ [protocol.kind]: { failed_calls: 0, total_calls: 1 } });
  });

  test("a model that the provider does not have is unknown_model and says what to do", async () => {
    server.script(protocol.fails(404, "no such model"));
    const error = await failure((await modelOf(registry([one()]), { message: { model: "nope" } })).invoke("hi"));
    expect(error).toMatchObject({ code: "unknown_model" });
    expect(error.message).toMatch(/"nope".*provider_id/s);
  });

  test("a malformed piece is an error with a retry before the first word", async () => {
    const bad = { type: "raw", data: "event: content_block_delta\ndata: {not json\n\n" } as const;
    server.script({ type: "stream", pieces: [...protocol.opens, bad] }, protocol.says("fine"));
    expect((await (await modelOf(registry([one()]))).invoke("hi")).text).toBe("fine");
    server.script({ type: "stream", pieces: [...protocol.begins("Half"), bad] });
    expect((await failure((await modelOf(registry([one()]))).invoke("hi"))).code).toBe("model_failed");
  });

  test("an answer that is no stream is told as such", async () => {
    server.script({ type: "body", status: 200, headers: { "content-type": "text/html" }, body: "<html>hello</html>" });
    const error = await failure((await modelOf(registry([one()]))).invoke("hi"));
    expect(error.message).toMatch(/text\/html.*base_url right\? What was said/s);
    expect(server.requests).toHaveLength(1);
  });

  test("a redirect is refused, so that the key stays where it belongs", async () => {
    await using other = await openScriptedServer();
    other.script(protocol.says("stolen"));
    server.script({ type: "body", status: 307, headers: { location: `${other.url}${protocol.path}` }, body: "" });
    expect((await failure((await modelOf(registry([one()]))).invoke("hi"))).message).toContain("redirect");
    expect(other.requests).toHaveLength(0);
  });

  test.each([
    ["connect", { type: "silence" } as const, { connectMs: 60 }],
    ["firstToken", { type: "stream", pieces: [{ type: "hang" }] } as const, { firstTokenMs: 60 }],
  ])("gives up a provider that is silent (%s), after its retries", async (timeout, answer, timeouts) => {
    server.script(answer);
    const records: ModelCallRecord[] = [];
    const options = { timeouts, onCall: (record: ModelCallRecord) => records.push(record) };
    const error = await failure((await modelOf(registry([one({ max_retries: 1 })], options))).invoke("hi"));
    expect(error.code).toBe("model_timeout");
    expect(error.message).toContain(timeout === "connect" ? "did not begin to answer" : "sent nothing");
    // Not the server's requests: on a busy machine one may be given up before it has reached the server.
    expect(records).toMatchObject([1, 2].map((attempt) => ({ attempt, error: { code: "model_timeout" } })));
  });

  test("gives up a stream that stops in its middle, and one that never ends", async () => {
    server.script({ type: "stream", pieces: [...protocol.begins("Half"), { type: "hang" }] });
    const idle = await failure((await modelOf(registry([one()], { timeouts: { idleMs: 60 } }))).invoke("hi"));
    expect(idle).toMatchObject({ code: "model_timeout" });
    const slow = Array.from({ length: 200 }, () => [
      ...protocol.begins("x").slice(-1),
      { type: "pause", ms: 20 } as const,
    ]).flat();
    server.script({ type: "stream", pieces: [...protocol.begins("x"), ...slow] });
    const total = await failure((await modelOf(registry([one()], { timeouts: { totalMs: 150 } }))).invoke("hi"));
    expect(total.message).toContain("did not come to the end");
    await server.requests.at(-1)?.left;
  });

  test("slow tokens are fine as long as they come", async () => {
    const pieces = ["a", "b", "c"].flatMap((word) => [
      ...protocol.begins(word).slice(-1),
      { type: "pause", ms: 40 } as const,
    ]);
    const answer = protocol.says("!");
    const ending = answer.type === "stream" ? answer.pieces.slice(protocol.begins("").length - 1) : [];
    server.script({ type: "stream", pieces: [...protocol.begins(""), ...pieces, ...ending] });
    const model = await modelOf(registry([one()], { timeouts: { idleMs: 30_000 } }));
    expect((await model.invoke("hi")).text).toContain("abc");
  });

  test("an abort ends the call at once, and the request with it", async () => {
    server.script({ type: "stream", pieces: [...protocol.begins("Half"), { type: "hang" }] });
    const made = registry([one()]);
    const model = await modelOf(made);
    const abort = new AbortController();
    const reason = new Error("the user said stop");
    const reading = (async () => {
      for await (const chunk of await model.stream("hi", { signal: abort.signal }))
        if (chunk.text === "Half") abort.abort(reason);
    })();
    await expect(reading).rejects.toThrow();
    await server.requests[0]?.left;
    expect(await made.circuitBreakers()).toMatchObject({
      [protocol.kind]: { failed_calls: 0, consecutive_failures: 0 },
    });
  });

  test("a server without a key never gets one from the environment", async () => {
    vi.stubEnv("OPENAI_API_KEY", KEY);
    vi.stubEnv("ANTHROPIC_API_KEY", KEY);
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", KEY);
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    server.script(protocol.says("ok"));
    const model = await modelOf(registry([one({ api_key_env: null })]));
    expect((await model.invoke("hi")).text).toBe("ok");
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain(KEY);
  });
});
