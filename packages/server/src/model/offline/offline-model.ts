import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type {
  BaseChatModelCallOptions,
  BindToolsInput,
  LangSmithParams,
} from "@langchain/core/language_models/chat_models";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { type Clock, systemClock } from "../clock.ts";
import { OFFLINE_PROVIDER_ID } from "../provider-definition.ts";
import { StreamedModel } from "../streamed-model.ts";
import type { CallOrigin } from "../usage.ts";
import { readTools } from "./offline-tool.ts";
import { type Thought, type ToolRule, think } from "./think.ts";
import { readTurn } from "./turn.ts";

/** The name under which its messages are stored, whatever model was asked for: nobody shall take them for that model's. */
const MODEL_NAME = "offline";
/** For "slowly" in a request: long enough to watch, and to abort in its middle. */
const SLOW_WORD_MS = 100;

export interface OfflineModelOptions {
  readonly model?: string;
  readonly clock?: Clock;
  /** A pause after each word. */
  readonly wordDelayMs?: number;
}

export interface OfflineModelCallOptions extends BaseChatModelCallOptions {
  readonly tools?: BindToolsInput[];
}

/**
 * The embedded model: no network, no cost, the same answer to the same messages. It follows plain instructions with the tools
 * it is bound to, so that everything around a model can be tried and tested without one.
 */
export class OfflineModel extends StreamedModel<OfflineModelCallOptions> {
  readonly #clock: Clock;
  readonly #wordDelayMs: number;
  /** What was asked for. Any name will do. */
  readonly model: string;

  static override lc_name(): string {
    return "OfflineModel";
  }

  constructor({ model = MODEL_NAME, clock = systemClock, wordDelayMs = 0 }: OfflineModelOptions = {}) {
    super({});
    this.model = model;
    this.#clock = clock;
    this.#wordDelayMs = wordDelayMs;
  }

  override get profile(): ModelProfile {
    return { toolCalling: true, structuredOutput: false };
  }

  override _llmType(): string {
    return "offline";
  }

  override getLsParams(): LangSmithParams {
    return { ls_provider: "offline", ls_model_name: MODEL_NAME, ls_model_type: "chat" };
  }

  override invocationParams(): Record<string, unknown> {
    return { provider: "offline", model: this.model };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { signal } = options;
    signal?.throwIfAborted();
    const turn = readTurn(messages, readTools(options.tools ?? []));
    const thought = think(turn, readRule(options.tool_choice));
    const delay = /\bslowly\b/i.test(turn.request) ? Math.max(SLOW_WORD_MS, this.#wordDelayMs) : this.#wordDelayMs;
    for (const chunk of chunksOf(thought, countWords(messages))) {
      signal?.throwIfAborted();
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
      if (delay > 0 && chunk.text !== "") await this.#clock.sleep(delay, signal);
    }
  }
}

// Its tokens are words: it has no other unit.
function* chunksOf(thought: Thought, inputWords: number): Generator<ChatGenerationChunk> {
  if (thought.type === "text") {
    const words = thought.text.match(/\S+\s*|\s+/g) ?? [];
    for (const word of words) yield new ChatGenerationChunk({ text: word, message: new AIMessageChunk(word) });
    yield closing(inputWords, words.length);
    return;
  }
  const { id, name, args } = thought.call;
  const json = JSON.stringify(args);
  const message = new AIMessageChunk({
    content: "",
    tool_call_chunks: [{ id, name, args: json, index: 0, type: "tool_call_chunk" }],
  });
  yield new ChatGenerationChunk({ text: "", message });
  yield closing(inputWords, json.split(/\s+/).length + 1);
}

function closing(input_tokens: number, output_tokens: number): ChatGenerationChunk {
  const origin: CallOrigin = {
    provider_id: OFFLINE_PROVIDER_ID,
    provider: "offline",
    model: MODEL_NAME,
    estimated: false,
    attempts: 1,
    fallback_from: [],
  };
  const message = new AIMessageChunk({ content: "" });
  Object.assign(message, {
    usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
    response_metadata: { model_name: MODEL_NAME, model_provider: "offline", cognition: origin },
  });
  return new ChatGenerationChunk({ text: "", message });
}

function countWords(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + (message.text.match(/\S+/g)?.length ?? 0), 0);
}

function readRule(choice: unknown): ToolRule {
  if (choice === undefined || choice === "auto") return "auto";
  if (choice === "any" || choice === "required") return "any";
  if (choice === "none") return "none";
  if (typeof choice === "string") return { name: choice };
  const { type, name, function: called } = choice as { type?: string; name?: string; function?: { name?: string } };
  const wanted = called?.name ?? name;
  if (wanted) return { name: wanted };
  return type === "any" ? "any" : "auto";
}
