import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseChatModelCallOptions, LangSmithParams } from "@langchain/core/language_models/chat_models";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import { type CallDependencies, callSources, type ModelCallRecord } from "./call-sources.ts";
import type { ModelSource, SourceCallOptions } from "./model-source.ts";
import { StreamedModel } from "./streamed-model.ts";
import { type CallUsage, unfinishedChunk } from "./usage.ts";

export interface ResilientModelCallOptions extends BaseChatModelCallOptions, SourceCallOptions {}

/**
 * A chat model whose every call goes through timeouts, retries, the provider's circuit breaker and its fallbacks, and always
 * streams over the wire, also for `invoke`: only a stream tells silence from work.
 */
export class ResilientModel extends StreamedModel<ResilientModelCallOptions> {
  // Private, so that printing or serializing the model shows no key of the packages' own models.
  readonly #sources: readonly [ModelSource, ...ModelSource[]];
  readonly #dependencies: CallDependencies;

  static override lc_name(): string {
    return "ResilientModel";
  }

  constructor(sources: readonly [ModelSource, ...ModelSource[]], dependencies: CallDependencies) {
    super({});
    this.#sources = sources;
    this.#dependencies = dependencies;
  }

  /** The first provider's own name: middleware decides by it (prompt caching asks for "ChatAnthropic"). */
  override getName(): string {
    return this.#sources[0].chat.getName();
  }

  /** The limits and abilities of the first model, by which agents summarize and choose how to get structured output. */
  override get profile(): ModelProfile {
    return (this.#sources[0].chat as { profile?: ModelProfile }).profile ?? {};
  }

  get modelName(): string {
    return this.#sources[0].model;
  }

  override _llmType(): string {
    return "cognition";
  }

  // Not the package's own: that one builds a request for it, and throws past everything here where a parameter is wrong.
  override getLsParams(): LangSmithParams {
    const { provider, model } = this.#sources[0];
    return { ls_provider: provider.provider, ls_model_name: model, ls_model_type: "chat" };
  }

  override invocationParams(): Record<string, unknown> {
    const { provider, model } = this.#sources[0];
    return { provider_id: provider.id, provider: provider.provider, model };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const unfinished: CallUsage[] = [];
    const onCall = (record: ModelCallRecord) => {
      if (record.outcome !== "succeeded" && record.usage) unfinished.push(record.usage);
      this.#dependencies.onCall?.(record);
    };
    const call = { ...this.#dependencies, messages, options: options as SourceCallOptions, onCall };
    const tell = (chunk: ChatGenerationChunk) =>
      runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    try {
      for await (const chunk of callSources(this.#sources, call)) {
        yield chunk;
        await tell(chunk);
      }
    } finally {
      // No message will have it: the caller left, or another attempt gave the answer.
      if (unfinished.length > 0) await tell(unfinishedChunk(unfinished));
    }
  }
}
