import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anthropic } from "./anthropic-server.ts";
import { openai } from "./openai-server.ts";
import { modelOf, PROTOCOLS, type Protocol, provider, registry } from "./providers.ts";
import { openScriptedServer, type ScriptedServer } from "./scripted-server.ts";

const [OPENAI, ANTHROPIC] = PROTOCOLS as readonly [Protocol, Protocol];
const PING = {
  type: "function",
  function: { name: "ping", description: "p", parameters: { type: "object", properties: {} } },
};
let server: ScriptedServer;
beforeEach(async () => {
  server = await openScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

/** What a provider of the protocol answers to the conversation, and what it was sent of it. */
async function ask(protocol: Protocol, conversation: BaseMessage[], more = {}) {
  const model = await modelOf(registry([provider(protocol, server.url, more)]));
  const answer = (await model.bindTools?.([PING])?.invoke(conversation)) as AIMessage;
  return { answer, body: server.requests.at(-1)?.body as { messages: Record<string, unknown>[]; system?: unknown } };
}

/** A thought, and then a word. */
const thoughtful = anthropic.stream(
  anthropic.start(),
  ...anthropic.thinkingBlock(0, "Hmm."),
  ...anthropic.textBlock(1, "Hello"),
  ...anthropic.end(5),
);

describe("a thread that goes on with another provider", () => {
  const question = new HumanMessage("Ping it");

  test("from Anthropic to OpenAI: what was said and called, without thoughts, places and signatures", async () => {
    server.script(
      anthropic.stream(
        anthropic.start(),
        ...anthropic.thinkingBlock(0, "Hmm."),
        anthropic.block(1, { type: "redacted_thinking", data: "c2VjcmV0" }),
        ...anthropic.textBlock(2, "I ", "ping."),
        ...anthropic.toolBlock(3, "toolu_1", "ping", "{}"),
        ...anthropic.end(5, "tool_use"),
      ),
      anthropic.stream(
        anthropic.start(),
        ...anthropic.thinkingBlock(0, "Again."),
        ...anthropic.toolBlock(1, "toolu_2", "ping", "{}"),
        ...anthropic.end(5, "tool_use"),
      ),
      openai.says("ok"),
    );
    const first: BaseMessage[] = [question, (await ask(ANTHROPIC, [question])).answer];
    first.push(new ToolMessage({ tool_call_id: "toolu_1", content: "pong" }));
    const second: BaseMessage[] = [...first, (await ask(ANTHROPIC, first)).answer];
    second.push(new ToolMessage({ tool_call_id: "toolu_2", content: "pong" }));
    const { body } = await ask(OPENAI, second);
    const [one, two] = body.messages.flatMap(({ tool_call_id }) => (tool_call_id ? [String(tool_call_id)] : []));
    const call = (id: string | undefined) => ({ id, type: "function", function: { name: "ping", arguments: "{}" } });
    expect(body.messages).toEqual([
      { role: "user", content: "Ping it" },
      { role: "assistant", content: "I ping.", tool_calls: [call(one)] },
      { role: "tool", tool_call_id: one, content: "pong" },
      { role: "assistant", content: "", tool_calls: [call(two)] },
      { role: "tool", tool_call_id: two, content: "pong" },
    ]);
    // Mistral takes no others.
    for (const id of [one, two]) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(one).not.toBe(two);
  });

  test("back to the provider that gave it, an answer is as it was given", async () => {
    server.script(thoughtful, anthropic.says("ok"));
    const { answer } = await ask(ANTHROPIC, [question]);
    const { body } = await ask(ANTHROPIC, [question, answer, new HumanMessage("More")]);
    expect(body.messages[1]).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hmm.", signature: "c2ln" },
        { type: "text", text: "Hello" },
      ],
    });
  });

  test("to another server of the same protocol go no thoughts: it did not sign them", async () => {
    server.script(thoughtful, anthropic.says("ok"));
    const { answer } = await ask(ANTHROPIC, [question], { id: "gateway" });
    const { body } = await ask(ANTHROPIC, [question, answer, new HumanMessage("More")]);
    expect(body.messages[1]).toEqual({ role: "assistant", content: "Hello" });
  });

  test("from a server of the OpenAI protocol to Anthropic: ids and names in the letters that it takes", async () => {
    const long = `call_${"x".repeat(60)}`;
    server.script(
      openai.stream(
        openai.start,
        openai.text("\n"),
        openai.toolStart(0, "functions.ping:0", "ping"),
        openai.toolArgs(0, "{}"),
        openai.toolStart(1, long, "functions.ping"),
        openai.toolArgs(1, "{}"),
        openai.finish("tool_calls"),
        openai.done,
      ),
      anthropic.says("ok"),
    );
    const { answer } = await ask(OPENAI, [question]);
    const results = ["functions.ping:0", long].map((id) => new ToolMessage({ tool_call_id: id, content: "pong" }));
    const { body } = await ask(ANTHROPIC, [question, answer, ...results]);
    const [, said, result] = body.messages as { content: Record<string, unknown>[] }[];
    expect(said?.content.map(({ type, name }) => [type, name])).toEqual([
      ["tool_use", "ping"],
      ["tool_use", "functions_ping"],
    ]);
    const ids = said?.content.map(({ id }) => id) ?? [];
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(new Set(ids).size).toBe(2);
    expect(result?.content.map(({ tool_use_id }) => tool_use_id)).toEqual(ids);
  });

  test("ids that a server gives anew in each answer are told apart: Anthropic refuses one that comes twice", async () => {
    server.script(OPENAI.calls("call_0", "ping", "{}"));
    const thread: BaseMessage[] = [question];
    for (const content of ["one", "two", "three"]) {
      thread.push((await ask(OPENAI, thread)).answer, new ToolMessage({ tool_call_id: "call_0", content }));
    }
    server.script(anthropic.says("ok"));
    const { body } = await ask(ANTHROPIC, thread);
    const blocks = (body.messages as { content: Record<string, unknown>[] }[])
      .slice(1)
      .map(({ content }) => content[0]);
    const called = blocks.flatMap((block) => (block?.["type"] === "tool_use" ? [block["id"]] : []));
    const results = blocks.flatMap((block) => (block?.["type"] === "tool_result" ? [block] : []));
    expect(new Set(called).size).toBe(3);
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(called);
    expect(results.map(({ content }) => content)).toEqual(["one", "two", "three"]);
  });

  test("an answer of another provider that says nothing is left out: an empty one is refused", async () => {
    server.script(anthropic.says("ok"));
    const empty = new AIMessage({ content: [{ type: "reasoning", reasoning: "Hmm." }] });
    const { body } = await ask(ANTHROPIC, [question, empty, new HumanMessage("Well?")]);
    expect(body.messages.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  test("behind a result no user speaks to another server than OpenAI's: Mistral's models refuse that, wherever they run", async () => {
    server.script(OPENAI.calls("call_0", "ping", "{}"), openai.says("ok"));
    const { answer } = await ask(OPENAI, [question]);
    const stopped = new ToolMessage({ tool_call_id: "call_0", content: "It was stopped." });
    const { body } = await ask(OPENAI, [question, answer, stopped, new HumanMessage("Go on")]);
    expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  });

  test("Anthropic's marks for its cache do not reach OpenAI", async () => {
    server.script(openai.says("ok"));
    const cache_control = { type: "ephemeral" };
    const system = new SystemMessage({ content: [{ type: "text", text: "Be kind.", cache_control }] });
    const { body } = await ask(OPENAI, [system, new HumanMessage("hi")]);
    expect(JSON.stringify(body.messages)).not.toContain("cache_control");
    expect(JSON.stringify(body.messages)).toContain("Be kind.");
  });
});

describe("what a user sends is in the form of the provider that is called", () => {
  const data = "iVBORw0KGgo=";
  const pdf = "JVBERi0xLjQ=";
  const image = `data:image/png;base64,${data}`;
  const IMAGES = [
    { type: "image_url", image_url: { url: image } },
    { type: "image_url", image_url: image },
    { type: "input_image", image_url: image },
    { type: "image", source: { type: "base64", media_type: "image/png", data } },
    { type: "image", source_type: "base64", mime_type: "image/png", data },
    { type: "image", mimeType: "image/png", data },
  ];
  const FILES = [
    { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
    { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` },
    { type: "document", title: "a.pdf", source: { type: "base64", media_type: "application/pdf", data: pdf } },
    { type: "file", source_type: "base64", mime_type: "application/pdf", data: pdf, metadata: { filename: "a.pdf" } },
    { type: "file", mimeType: "application/pdf", data: pdf, metadata: { filename: "a.pdf" } },
  ];

  async function sent(protocol: Protocol, content: object[]): Promise<unknown> {
    server.script(protocol.says("ok"));
    const { body } = await ask(protocol, [new HumanMessage({ content: content as never })]);
    return body.messages[0]?.["content"];
  }

  test.each(IMAGES)("an image as $type", async (block) => {
    expect(await sent(OPENAI, [block])).toEqual([{ type: "image_url", image_url: { url: image } }]);
    expect(await sent(ANTHROPIC, [block])).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data } },
    ]);
  });

  test.each(FILES)("a file as $type", async (block) => {
    expect(await sent(OPENAI, [block])).toEqual([
      { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
    ]);
    expect(await sent(ANTHROPIC, [block])).toEqual([
      { type: "document", title: "a.pdf", source: { type: "base64", media_type: "application/pdf", data: pdf } },
    ]);
  });

  test("an image at an address", async () => {
    const url = "https://example.com/a.png";
    for (const block of [
      { type: "image_url", image_url: { url } },
      { type: "image", source: { type: "url", url } },
      { type: "image", url },
    ]) {
      expect(await sent(OPENAI, [block])).toEqual([{ type: "image_url", image_url: { url } }]);
      expect(await sent(ANTHROPIC, [block])).toEqual([{ type: "image", source: { type: "url", url } }]);
    }
  });

  test("a text file is text, whatever the provider", async () => {
    const block = { type: "file", mimeType: "text/plain", data: Buffer.from("Grüße").toString("base64") };
    expect(await sent(OPENAI, [block])).toEqual([{ type: "text", text: "Grüße" }]);
    expect(await sent(ANTHROPIC, [block])).toEqual([
      { type: "document", source: { type: "text", media_type: "text/plain", data: "Grüße" } },
    ]);
  });

  test("a picture is of the type that its bytes are of, whatever it is called", async () => {
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0]).toString("base64");
    const url = `data:image/png;base64,${jpeg}`;
    const called = [
      { type: "image", mimeType: "image/png", data: jpeg },
      { type: "image", mimeType: "image/jpg", data: jpeg },
      { type: "image_url", image_url: { url, detail: "low" } },
    ];
    const image_url = { url: `data:image/jpeg;base64,${jpeg}` };
    expect(await sent(OPENAI, called)).toEqual([
      { type: "image_url", image_url },
      { type: "image_url", image_url },
      { type: "image_url", image_url: { ...image_url, detail: "low" } },
    ]);
    const source = { type: "base64", media_type: "image/jpeg", data: jpeg };
    expect(await sent(ANTHROPIC, called)).toEqual(called.map(() => ({ type: "image", source })));
  });

  test.each(PROTOCOLS)(
    "a page of an error under a picture's or a PDF's name is told in words to $kind",
    async (protocol) => {
      const data = Buffer.from("<html>404 Not Found</html>").toString("base64");
      const broken = [
        { type: "image", mimeType: "image/png", data },
        { type: "image_url", image_url: { url: `data:image/webp;base64,${data}` } },
        { type: "file", mimeType: "application/pdf", data },
        { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${data}` } },
      ];
      const words = { type: "text", text: expect.stringContaining("damaged") };
      expect(await sent(protocol, broken)).toEqual(broken.map(() => words));
    },
  );

  test.each(PROTOCOLS)("what $kind does not take is told in words", async (protocol) => {
    const odd = [
      { type: "image", mimeType: "image/svg+xml", data: "PHN2Zz4=" },
      { type: "image_url", image_url: { url: "file:///etc/passwd" } },
      { type: "image_url" },
      { type: "video", mimeType: "video/mp4", data: "AAAA" },
      { type: "text", text: " " },
      { type: "text" },
    ];
    const words = (text: string) => ({ type: "text", text: expect.stringContaining(text) });
    expect(await sent(protocol, [{ type: "text", text: "Look" }, ...odd])).toEqual([
      { type: "text", text: "Look" },
      words("image of image/svg+xml"),
      words("image_url"),
      words("image_url"),
      words("video of video/mp4"),
      words("(empty)"),
      words("(empty)"),
    ]);
  });
});
