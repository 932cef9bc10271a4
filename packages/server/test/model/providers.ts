import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { createModelRegistry, type ModelRegistry, type ModelRegistryOptions } from "../../src/model/model-registry.ts";
import type { ProviderDefinition } from "../../src/model/provider-definition.ts";
import { anthropic } from "./anthropic-server.ts";
import { openai } from "./openai-server.ts";
import type { Answer, Piece } from "./scripted-server.ts";

/** What the two protocols have in common, so that one suite runs over both. */
export interface Protocol {
  readonly kind: "openai" | "anthropic";
  readonly model: string;
  readonly path: string;
  readonly says: (...words: readonly string[]) => Answer;
  readonly begins: (word: string) => readonly Piece[];
  readonly opens: readonly Piece[];
  readonly calls: (id: string, name: string, ...pieces: readonly string[]) => Answer;
  readonly fails: (status: number, message: string, headers?: Record<string, string>) => Answer;
  readonly overflow: Answer;
}

export const PROTOCOLS: readonly Protocol[] = [
  {
    kind: "openai",
    model: "gpt-5.4",
    path: "/v1/chat/completions",
    says: openai.says,
    opens: [openai.start],
    begins: (word) => [openai.start, openai.text(word)],
    calls: (id, name, ...pieces) =>
      openai.stream(
        openai.start,
        openai.toolStart(0, id, name),
        ...pieces.map((piece) => openai.toolArgs(0, piece)),
        openai.finish("tool_calls"),
        openai.usage(10, 5),
        openai.done,
      ),
    fails: (status, message, headers) => openai.fails(status, message, "error", headers),
    overflow: openai.fails(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
  },
  {
    kind: "anthropic",
    model: "claude-haiku-4-5",
    path: "/v1/messages",
    says: anthropic.says,
    opens: [anthropic.start()],
    begins: (word) => [
      anthropic.start(),
      anthropic.block(0, { type: "text", text: "" }),
      anthropic.delta(0, { type: "text_delta", text: word }),
    ],
    calls: (id, name, ...pieces) =>
      anthropic.stream(
        anthropic.start(),
        ...anthropic.toolBlock(0, id, name, ...pieces),
        ...anthropic.end(5, "tool_use"),
      ),
    fails: (status, message, headers) => anthropic.fails(status, "api_error", message, headers),
    overflow: anthropic.fails(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
  },
];

export const KEY = "sk-test-0123456789abcdef-very-secret";

export function provider(protocol: Protocol, url: string, more: Partial<ProviderDefinition> = {}): ProviderDefinition {
  return {
    id: protocol.kind,
    provider: protocol.kind,
    display_name: null,
    model: protocol.model,
    enabled: true,
    priority: 100,
    base_url: protocol.kind === "openai" ? `${url}/v1` : url,
    api_key_env: "TEST_KEY",
    max_retries: 2,
    timeout_ms: 60_000,
    scope: {},
    source: "file",
    ...more,
  };
}

export interface Waited {
  readonly waits: number[];
}

/** A registry whose waits take no time and are noted. */
export function registry(
  providers: readonly ProviderDefinition[],
  options: Partial<ModelRegistryOptions> = {},
): ModelRegistry & Waited {
  const waits: number[] = [];
  const made = createModelRegistry({
    env: { TEST_KEY: KEY },
    keyHosts: { TEST_KEY: ["127.0.0.1"] },
    providers,
    random: () => 0,
    clock: {
      now: () => Date.now(),
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        waits.push(ms);
      },
    },
    ...options,
  });
  return { ...made, waits };
}

export async function modelOf(
  made: ModelRegistry,
  request: Parameters<ModelRegistry["select"]>[0] = {},
): Promise<BaseChatModel> {
  return made.createModel(await made.select(request));
}
