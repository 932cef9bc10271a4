import { AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { bedrockKind } from "../../src/model/kind/bedrock-kind.ts";
import { type GoogleClient, googleKind } from "../../src/model/kind/google-kind.ts";
import { ollamaKind } from "../../src/model/kind/ollama-kind.ts";
import { readFailure } from "../../src/model/model-error.ts";
import type { ProviderKind } from "../../src/model/provider-kind.ts";
import { KEY, modelOf, PROTOCOLS, type Protocol, provider, registry } from "./providers.ts";
import { openScriptedServer, type Piece } from "./scripted-server.ts";

// These packages are not shipped: what stands here for them does what they do, as far as it matters.

interface OllamaFields {
  baseUrl: string;
  fetch: typeof fetch;
}

/** All calls of one client end with the one that was aborted, at the next piece of that one. */
class OllamaAsItComes extends FakeListChatModel {
  readonly fields: OllamaFields;
  readonly open = new Set<AbortController>();
  constructor(fields: OllamaFields) {
    super({ responses: [] });
    this.fields = fields;
  }
  override async *_streamResponseChunks(messages: BaseMessage[], options: { signal?: AbortSignal }) {
    for (const { content } of messages) if (typeof content !== "string") throw new Error("Non string content");
    let said = false;
    const stop = new AbortController();
    this.open.add(stop);
    const body = JSON.stringify({ said: messages.at(-1)?.text });
    const answer = await this.fields.fetch(this.fields.baseUrl, { method: "POST", body, signal: stop.signal });
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (options.signal?.aborted) {
        for (const one of this.open) one.abort();
        return;
      }
      yield chunk(piece);
      said = true;
    }
    if (!said) throw new Error("Did not receive done");
  }
}

/** Drops a piece without content. */
class GoogleAsItComes extends FakeListChatModel {
  client: GoogleClient = {
    generateContentStream: async (request) => {
      asked = request;
      return { stream: pieces(), response: Promise.reject(new Error("cut off")) };
    },
  };
  constructor() {
    super({ responses: [] });
  }
  override async *_streamResponseChunks() {
    for await (const { candidates, usageMetadata } of (await this.client.generateContentStream(request)).stream) {
      const [candidate] = candidates ?? [];
      if (!candidate?.content) continue;
      yield new ChatGenerationChunk({
        ...chunk(JSON.stringify(usageMetadata ?? {})),
        generationInfo: { ...candidate },
      });
    }
  }
}

let pieces: () => AsyncIterable<object> = async function* () {};
let asked: object;
const parameters = { type: "object", properties: { max: { type: ["integer", "null"], exclusiveMinimum: 0 } } };
const request = { contents: [], tools: [{ functionDeclarations: [{ name: "one", parameters }, { name: "two" }] }] };

class BedrockWithoutRegion {
  constructor() {
    throw new Error(`Set a region; ${KEY} is not one.`);
  }
}

vi.mock("@langchain/aws", () => ({ ChatBedrockConverse: BedrockWithoutRegion }));
vi.mock("@langchain/ollama", () => ({ ChatOllama: OllamaAsItComes }));
vi.mock("@langchain/google-genai", () => ({ ChatGoogleGenerativeAI: GoogleAsItComes }));

function chunk(text: string): ChatGenerationChunk {
  return new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
}

async function open(kind: ProviderKind, base_url = "http://127.0.0.1:1") {
  const model = await kind.load({ model: "m", base_url, api_key: null, parameters: {}, fetch, timeoutMs: 60_000 });
  return (said: BaseMessage, signal?: AbortSignal) =>
    model._streamResponseChunks([said], { ...(signal && { signal }) } as never);
}

async function textOf(stream: AsyncIterable<ChatGenerationChunk>): Promise<string> {
  let text = "";
  for await (const piece of stream) text += piece.text;
  return text;
}

describe("a call of Ollama that is aborted", () => {
  const word = (data: string): Piece => ({ type: "raw", data });

  async function ollama(...answers: Piece[][]) {
    const server = await openScriptedServer();
    onTestFinished(() => server[Symbol.asyncDispose]());
    server.script(...answers.map((each) => ({ type: "stream", pieces: each }) as const));
    return { server, ask: await open(ollamaKind, server.url) };
  }

  test("ends at once, though the model says nothing more", async () => {
    const { server, ask } = await ollama([word("one"), { type: "hang" }]);
    const abort = new AbortController();
    const stream = ask(new HumanMessage("a"), abort.signal);
    await stream.next();
    abort.abort();
    await server.requests[0]?.left;
    await expect(stream.next()).rejects.toThrow(/abort/);
  });

  test("leaves the calls of other runs alone", async () => {
    const slow = [word("one "), { type: "pause", ms: 100 }, word("two "), { type: "pause", ms: 100 }, word("three")];
    const { ask } = await ollama([word("one"), { type: "pause", ms: 100 }, word("two")], slow as Piece[]);
    const abort = new AbortController();
    const first = ask(new HumanMessage("a"), abort.signal);
    await first.next();
    const other = textOf(ask(new HumanMessage("b")));
    abort.abort();
    await first.next().catch(() => undefined);
    expect(await other).toBe("one two three");
  });
});

test("an answer of Ollama's that breaks off before a word is asked for again, in its package's plain words as they are", async () => {
  const server = await openScriptedServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  server.script({ type: "stream", pieces: [] });
  const ask = await open(ollamaKind, server.url);
  const error: unknown = await textOf(ask(new HumanMessage("a"))).catch((thrown: unknown) => thrown);
  expect(readFailure(error, 0, (text) => text)).toMatchObject({
    ...{ retryable: true, elsewhere: true, message: "Did not receive done" },
  });
});

test("Ollama is given a tool's result as one text, which is all that its package takes", async () => {
  const server = await openScriptedServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  server.script({ type: "stream", pieces: [{ type: "raw", data: "ok" }] });
  const ask = await open(ollamaKind, server.url);
  const content = [
    { type: "text", text: "one" },
    { type: "text", text: "two" },
  ];
  expect(await textOf(ask(new ToolMessage({ content, tool_call_id: "c" })))).toBe("ok");
  expect(server.requests[0]?.body).toEqual({ said: "one\ntwo" });
});

test("Google is given the schemas of tools where it takes any", async () => {
  const ask = await open(googleKind);
  await textOf(ask(new HumanMessage("a")));
  const declared = [{ name: "one", parametersJsonSchema: parameters }, { name: "two" }];
  expect(asked).toEqual({ contents: [], tools: [{ functionDeclarations: declared }] });
});

describe("an answer of Google's", () => {
  async function answer(...given: object[]) {
    pieces = async function* () {
      yield* given;
    };
    const read = [];
    const ask = await open(googleKind);
    for await (const piece of ask(new HumanMessage("a")))
      read.push({ end: googleKind.endOf?.(piece), text: piece.text });
    return read;
  }

  test("that is refused says so, whether or not anything else comes of it", async () => {
    const asked = { candidates: [{ finishReason: "SAFETY" }] };
    expect(await answer(asked)).toMatchObject([{ end: "safety" }]);
    expect(await answer({ promptFeedback: { blockReason: "SPII" } })).toMatchObject([{ end: "spii" }]);
  });

  test("counts thoughts as output, which they are paid for as", async () => {
    const content = { parts: [] };
    const usageMetadata = { candidatesTokenCount: 5, thoughtsTokenCount: 3 };
    const [piece] = await answer({ candidates: [{ content }], usageMetadata });
    expect(piece?.end).toBeUndefined();
    expect(JSON.parse(piece?.text ?? "")).toMatchObject({ candidatesTokenCount: 8 });
  });
});

test("the end of an answer is told by each in its own way", () => {
  const ending = (response_metadata: object) =>
    new ChatGenerationChunk({ text: "", message: new AIMessageChunk({ content: "", response_metadata }) });
  expect(ollamaKind.endOf?.(ending({ done: true, done_reason: "length" }))).toBe("length");
  expect(ollamaKind.endOf?.(ending({ done: true }))).toBe("stop");
  expect(ollamaKind.endOf?.(ending({}))).toBeUndefined();
  expect(bedrockKind.endOf?.(ending({ messageStop: { stopReason: "max_tokens" } }))).toBe("max_tokens");
  expect(bedrockKind.endOf?.(ending({}))).toBeUndefined();
});

test("what a package asks for itself is told as a matter of the provider's configuration, without the key", async () => {
  const made = registry([provider(PROTOCOLS[0] as Protocol, "https://127.0.0.1:1", { provider: "bedrock" })]);
  await expect(modelOf(made)).rejects.toMatchObject({
    code: "invalid_config",
    message: "The provider openai can't be used: Set a region; [TEST_KEY] is not one.",
  });
});

test.each([
  [Object.assign(new Error("the input length exceeds the context length"), { status_code: 400 }), "context_overflow"],
  [Object.assign(new Error('model "m" not found'), { status_code: 404 }), "unknown_model"],
  [Object.assign(new Error("Input is too long"), { $metadata: { httpStatusCode: 400 } }), "context_overflow"],
  [Object.assign(new Error("Too many requests"), { $metadata: { httpStatusCode: 429 } }), "model_rate_limited"],
])("the status of %o is read where its package has it", (error, code) => {
  expect(readFailure(error, 0, (text) => text)).toMatchObject({ code });
});
