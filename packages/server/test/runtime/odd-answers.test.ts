import { describe, expect, it, onTestFinished } from "vitest";
import { anthropic } from "../model/anthropic-server.ts";
import { openai } from "../model/openai-server.ts";
import { PROTOCOLS, type Protocol } from "../model/providers.ts";
import type { Answer, Piece, ScriptedServer } from "../model/scripted-server.ts";
import { scriptedOver } from "./scripted-provider.ts";
import { dataOf, type Started, say, startRuntime } from "./started-runtime.ts";

const [overOpenai, overAnthropic] = PROTOCOLS as readonly [Protocol, Protocol];

async function startOver(
  protocol: Protocol,
  ...answers: readonly Answer[]
): Promise<Started & { server: ScriptedServer }> {
  const { server, options } = await scriptedOver(protocol, ...answers);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { ...(await startRuntime(options)), server };
}

type Sent = Record<string, unknown> & { content?: unknown; tool_calls?: { id: string }[]; tool_call_id?: string };
type Block = { type: string; id?: string; tool_use_id?: string; text?: unknown };

/** What providers check in a conversation: each call has its own id and exactly one result, and no message is empty. */
function expectWellFormed({ requests }: ScriptedServer): void {
  for (const { body } of requests) {
    const messages = body["messages"] as Sent[];
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Block[]) : []));
    const called = [
      ...messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)),
      ...blocks.flatMap(({ type, id }) => (type === "tool_use" ? [id] : [])),
    ];
    const answered = [
      ...messages.flatMap(({ role, tool_call_id }) => (role === "tool" ? [tool_call_id] : [])),
      ...blocks.flatMap(({ type, tool_use_id }) => (type === "tool_result" ? [tool_use_id] : [])),
    ];
    expect(answered).toEqual(called);
    expect(new Set(called).size).toBe(called.length);
    // OpenAI takes no longer one.
    for (const id of called) expect(id).toMatch(/^[\w-]{1,40}$/);
    for (const { type, text } of blocks) if (type === "text") expect(text).toEqual(expect.stringMatching(/./));
    for (const { content, tool_calls } of messages) if (!tool_calls) expect(content).not.toHaveLength(0);
  }
}

const saidIn = (events: Awaited<ReturnType<typeof say>>) =>
  dataOf(events, "token")
    .map(({ content }) => content)
    .join("");

function openaiCalls(finish: string, ...calls: readonly object[]): Answer {
  const pieces = calls.map((call, index) => openai.chunk({ tool_calls: [{ index, type: "function", ...call }] }));
  return openai.stream(openai.start, ...pieces, openai.finish(finish), openai.usage(10, 5), openai.done);
}

const call = (args: unknown, id: unknown = "call_1") => ({ id, function: { name: "execute", arguments: args } });

const anthropicCalls = (reason: string, ...pieces: readonly Piece[]) =>
  anthropic.stream(anthropic.start(), ...pieces, ...anthropic.end(5, reason));

describe("a tool call whose arguments were cut off never runs, and the model is told", () => {
  const CUT = '{"command":"touch never.txt';
  const cases: [string, Protocol, Answer][] = [
    ["openai, length", overOpenai, openaiCalls("length", call(CUT))],
    ["openai, tool_calls", overOpenai, openaiCalls("tool_calls", call(CUT))],
    ["openai, before any arguments", overOpenai, openaiCalls("length", call(""))],
    ["openai, filtered before any arguments", overOpenai, openaiCalls("content_filter", call(""))],
    ["openai, filtered", overOpenai, openaiCalls("content_filter", call(CUT))],
    [
      "anthropic, refused before any arguments",
      overAnthropic,
      anthropicCalls("refusal", ...anthropic.toolBlock(0, "call_1", "execute")),
    ],
    [
      "anthropic",
      overAnthropic,
      anthropicCalls("max_tokens", ...anthropic.toolBlock(0, "call_1", "execute", '{"command":', '"touch never.txt')),
    ],
  ];
  it.each(cases)("%s", async (_name, protocol, answer) => {
    const started = await startOver(protocol, answer, protocol.says("I see"), protocol.says("Again"));
    const events = await say(started, "Go");
    expect(dataOf(events, "tool_call")).toMatchObject([{ id: "call_1", name: "execute", args: {} }]);
    expect(dataOf(events, "tool_result")).toMatchObject([
      { tool_call_id: "call_1", outcome: "error", output: expect.stringMatching(/not run.*(cut off|JSON)/s) },
    ]);
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(saidIn(events)).toBe("I see");
    expect(dataOf(await say(started, "And now?"), "done")).toMatchObject([{ status: "succeeded" }]);
    expectWellFormed(started.server);
    expect(started.errors).toEqual([]);
  });
});

describe("a tool call that can't be read is an error for the model to mend, and leaves the thread fit", () => {
  const anthropicInput = (input: string, id = "call_1") =>
    anthropicCalls("tool_use", ...anthropic.toolBlock(0, id, "ls", input));
  const cases: [string, Protocol, Answer, "error" | "ok"][] = [
    ["a list", overOpenai, openaiCalls("tool_calls", call([])), "error"],
    ["a JSON list", overOpenai, openaiCalls("tool_calls", call("[]")), "error"],
    ["a text", overOpenai, openaiCalls("tool_calls", call('"x"')), "error"],
    ["something behind", overOpenai, openaiCalls("tool_calls", call('{"command":"ls"} trailing')), "error"],
    ["no name", overOpenai, openaiCalls("tool_calls", { id: "call_1", function: { arguments: "{}" } }), "error"],
    ["__proto__", overOpenai, openaiCalls("tool_calls", call('{"command":"ls","a":[{"__proto__":1}]}')), "error"],
    [
      "what is too deep",
      overOpenai,
      openaiCalls("tool_calls", call(`{"a":${"[".repeat(9_000)}${"]".repeat(9_000)}}`)),
      "error",
    ],
    ["an object", overOpenai, openaiCalls("tool_calls", call({ command: "ls" })), "ok"],
    ["an empty id", overOpenai, openaiCalls("tool_calls", call('{"command":"ls"}', "")), "ok"],
    ["no id", overOpenai, openaiCalls("tool_calls", { function: { name: "ls", arguments: '{"path":"/"}' } }), "ok"],
    ["an id of another type", overOpenai, openaiCalls("tool_calls", call('{"command":"ls"}', 7)), "ok"],
    ["an id with U+0000", overOpenai, openaiCalls("tool_calls", call('{"command":"ls"}', "a\0b")), "ok"],
    ["half a character", overOpenai, openaiCalls("tool_calls", call('{"command":"ls"}', "a\ud800")), "ok"],
    ["a list, anthropic", overAnthropic, anthropicInput("[]"), "error"],
    ["something behind, anthropic", overAnthropic, anthropicInput('{"path":"/"} trailing'), "error"],
    ["an empty id, anthropic", overAnthropic, anthropicInput('{"path":"/"}', ""), "ok"],
  ];
  it.each(cases)("%s", async (_name, protocol, answer, outcome) => {
    const started = await startOver(protocol, answer, protocol.says("Done"));
    const events = await say(started, "Go");
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome }]);
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(saidIn(events)).toBe("Done");
    expect(dataOf(await say(started, "And now?"), "done")).toMatchObject([{ status: "succeeded" }]);
    expectWellFormed(started.server);
    expect(started.errors).toEqual([]);
  });

  it("no arguments at all are none", async () => {
    const todo = (args: unknown) => ({ id: "call_1", function: { name: "ls", arguments: args } });
    for (const args of [null, ""]) {
      const started = await startOver(overOpenai, openaiCalls("tool_calls", todo(args)), overOpenai.says("Done"));
      const [told] = dataOf(await say(started, "Go"), "tool_call");
      expect(told).toMatchObject({ args: {} });
      expectWellFormed(started.server);
    }
  });

  it("calls of one answer under one id are two calls, and one that can't be read does not stop the other", async () => {
    const same = [call('{"command":"echo one"}'), call('{"command":"echo two"}'), call("{{")];
    const started = await startOver(overOpenai, openaiCalls("tool_calls", ...same), overOpenai.says("Done"));
    const results = dataOf(await say(started, "Go"), "tool_result");
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(["error", "ok", "ok"]);
    expectWellFormed(started.server);
  });
});

describe("an answer that says nothing is no success", () => {
  const cases: [string, Protocol, Answer, RegExp][] = [
    ["openai", overOpenai, openai.stream(openai.start, openai.finish("stop"), openai.done), /empty answer/],
    ["anthropic", overAnthropic, anthropicCalls("end_turn"), /empty answer/],
    ["anthropic, empty text", overAnthropic, anthropicCalls("end_turn", ...anthropic.textBlock(0)), /empty answer/],
    [
      "anthropic, no text",
      overAnthropic,
      anthropicCalls("end_turn", anthropic.block(0, { type: "text", text: null })),
      /empty answer/,
    ],
    [
      "openai, filtered",
      overOpenai,
      openai.stream(openai.start, openai.finish("content_filter"), openai.done),
      /refused to answer.*content_filter/,
    ],
    ["anthropic, refusal", overAnthropic, anthropicCalls("refusal"), /refused to answer.*refusal/],
    ["openai, length", overOpenai, openai.stream(openai.start, openai.finish("length"), openai.done), /max_tokens/],
  ];
  it.each(cases)("%s", async (_name, protocol, answer, reason) => {
    const started = await startOver(protocol, answer);
    const events = await say(started, "Go");
    expect(dataOf(events, "error")).toMatchObject([{ code: "model_failed", message: expect.stringMatching(reason) }]);
    started.server.script(protocol.says("Better"));
    expect(dataOf(await say(started, "Again"), "done")).toMatchObject([{ status: "succeeded" }]);
    expectWellFormed(started.server);
  });

  it("a refusal in words is the answer", async () => {
    const refusal = openai.chunk({ refusal: "I will not." });
    const answer = openai.stream(openai.start, refusal, openai.finish("stop"), openai.done);
    const started = await startOver(overOpenai, answer);
    const events = await say(started, "Go");
    expect(dataOf(events, "done")).toMatchObject([{ assistant_data: { content: "I will not." } }]);
  });
});

it("an answer that never says who speaks is one all the same, with its calls", async () => {
  const calls = openai.chunk({ tool_calls: [{ index: 0, ...call('{"command":"echo hello"}') }] });
  const started = await startOver(
    overOpenai,
    openai.stream(calls, openai.finish("tool_calls"), openai.done),
    openai.stream(openai.text("All "), openai.text("done"), openai.finish("stop"), openai.done),
  );
  const events = await say(started, "Go");
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: expect.stringContaining("hello") }]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded", assistant_data: { content: "All done" } }]);
});

describe.each(["reasoning_content", "reasoning"])("thoughts that a server puts into `%s`", (field) => {
  it("are told as they come, before the answer and not as part of it", async () => {
    const pieces = ["Hm, ", "yes."].map((thought) => openai.chunk({ [field]: thought }));
    const answer = openai.stream(openai.start, ...pieces, openai.text("Sure"), openai.finish("stop"), openai.done);
    const events = await say(await startOver(overOpenai, answer), "Go");
    const told = events.map(({ event }) => event).filter((event) => event === "reasoning" || event === "token");
    expect(told.lastIndexOf("reasoning")).toBeLessThan(told.indexOf("token"));
    const thoughts = dataOf(events, "reasoning");
    expect(thoughts.map(({ content }) => content).join("")).toBe("Hm, yes.");
    for (const { message_id } of thoughts) expect(message_id).toEqual(expect.any(String));
    expect(dataOf(events, "done")).toMatchObject([{ assistant_data: { content: "Sure" } }]);
  });
});

describe("a text of nothing but blanks is never sent, since Anthropic refuses it and all that follows in the thread", () => {
  const sentTexts = ({ requests }: ScriptedServer) => {
    const messages = (requests.at(-1)?.body["messages"] ?? []) as Sent[];
    return messages.flatMap(({ content }) =>
      Array.isArray(content)
        ? (content as Block[]).flatMap(({ type, text }) => (type === "text" ? [text] : []))
        : [content],
    );
  };

  it("as what a user said", async () => {
    const started = await startOver(overAnthropic, overAnthropic.says("Yes?"));
    await say(started, " \n");
    expect(sentTexts(started.server)).toEqual(["(empty)"]);
  });

  it("as what the model itself said", async () => {
    const blank = anthropicCalls("end_turn", ...anthropic.textBlock(0, "\n\n"));
    const started = await startOver(overAnthropic, blank, overAnthropic.says("Yes?"));
    await say(started, "Go");
    await say(started, "Again");
    expect(sentTexts(started.server)).toEqual(["Go", "Again"]);
  });

  it("beside a call, whose result stays with it", async () => {
    const blank = [
      ...anthropic.textBlock(0, "\n"),
      ...anthropic.toolBlock(1, "call_1", "execute", '{"command":"echo"}'),
    ];
    const started = await startOver(overAnthropic, anthropicCalls("tool_use", ...blank), overAnthropic.says("Done"));
    const events = await say(started, "Go");
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(sentTexts(started.server)).toEqual(["Go"]);
    expectWellFormed(started.server);
  });
});

describe("an answer that is not whole says so, where it ends and wherever it is read", () => {
  const openaiEnds = (reason: string) =>
    openai.stream(openai.start, openai.text("Once upon"), openai.finish(reason), openai.usage(10, 2), openai.done);
  const anthropicEnds = (reason: string) => anthropicCalls(reason, ...anthropic.textBlock(0, "Once upon"));
  const cases: [string, Protocol, Answer, string | undefined][] = [
    ["openai, length", overOpenai, openaiEnds("length"), "max_tokens"],
    ["openai, content_filter", overOpenai, openaiEnds("content_filter"), "refusal"],
    ["openai, stop", overOpenai, openaiEnds("stop"), undefined],
    ["anthropic, max_tokens", overAnthropic, anthropicEnds("max_tokens"), "max_tokens"],
    ["anthropic, refusal", overAnthropic, anthropicEnds("refusal"), "refusal"],
    ["anthropic, end_turn", overAnthropic, anthropicEnds("end_turn"), undefined],
  ];
  it.each(cases)("%s", async (_name, protocol, answer, stop_reason) => {
    const started = await startOver(protocol, answer, protocol.says("there was a king."));
    const { storage, session } = started;
    const events = await say(started, "A story");
    expect(saidIn(events)).toBe("Once upon");
    const [done] = dataOf(events, "done");
    const metadata = stop_reason === undefined ? {} : { stop_reason };
    expect(done).toMatchObject({ status: "succeeded", assistant_data: { metadata } });
    expect(done?.["stop_reason"]).toBe(stop_reason);
    expect((await storage.listMessagesForSession(session.id)).at(-1)).toEqual(done?.["assistant_data"]);
    expect(await storage.rebuildMessages(session.id)).toMatchObject({ repaired: 0, added: 0, removed: 0 });
    const [next] = dataOf(await say(started, "Go on"), "done");
    expect([next?.["status"], next?.["stop_reason"]]).toEqual(["succeeded", undefined]);
    expectWellFormed(started.server);
  });
});
