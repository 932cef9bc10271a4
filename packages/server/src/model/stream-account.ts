import { AIMessageChunk, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import type { ModelSource } from "./model-source.ts";
import { estimateMessageTokens, estimateTokens } from "./token-estimate.ts";

/** What has been seen of one answer: whether it is complete, what it used, who gave it. */
export class StreamAccount {
  readonly #kind: ModelSource["kind"];
  readonly #messages: readonly BaseMessage[];
  #counts: UsageMetadata | undefined;
  #characters = 0;
  readonly #keepIds: boolean;
  #ended = false;
  #blocks = false;
  #model: string | undefined;

  constructor({ kind, provider }: Pick<ModelSource, "kind" | "provider">, messages: readonly BaseMessage[]) {
    this.#kind = kind;
    this.#messages = messages;
    this.#keepIds = provider.base_url === null;
  }

  /** Undefined where the kind's protocol has no end that could be checked. */
  get ended(): boolean | undefined {
    return this.#kind.isEnd ? this.#ended : undefined;
  }

  /** The model that the provider says has answered: often a dated snapshot of the one that was asked. */
  get model(): string | undefined {
    return this.#model;
  }

  /**
   * Notes what a piece says and takes its counts and names out of it. Merging pieces adds numbers and joins texts, so
   * that a count given twice would be doubled and a model's name repeated; both are told once, at the end.
   */
  read(chunk: ChatGenerationChunk): ChatGenerationChunk {
    const { message } = chunk;
    if (this.#kind.isEnd?.(chunk)) this.#ended = true;
    this.#model ??=
      nameIn(chunk.generationInfo) ?? nameIn(message.response_metadata) ?? nameIn(message.additional_kwargs);
    this.#characters += sizeOf(message);
    this.#blocks ||= Array.isArray(message.content);
    if (!(message instanceof AIMessageChunk)) return chunk;
    if (!this.#keepIds) dropId(message);
    if (message.usage_metadata) this.#count(message.usage_metadata);
    delete message.usage_metadata;
    delete message.response_metadata["model_name"];
    if (chunk.generationInfo) delete chunk.generationInfo["model_name"];
    return chunk;
  }

  /** What the provider reported, or an estimate from the text where it reported nothing. */
  usage(): { counts: UsageMetadata; estimated: boolean } {
    if (this.#counts) return { counts: this.#counts, estimated: false };
    const input_tokens = estimateMessageTokens(this.#messages);
    const output_tokens = estimateTokens(" ".repeat(this.#characters));
    return { counts: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }, estimated: true };
  }

  /** The last piece: no text, but what the whole answer used and who gave it. */
  closing(metadata: Record<string, unknown>): ChatGenerationChunk {
    // Of the same shape as the pieces before: an empty text merged into a list would leave an empty block.
    const message = new AIMessageChunk(this.#blocks ? { content: [] } : { content: "" });
    Object.assign(message, { usage_metadata: this.usage().counts, response_metadata: metadata });
    return new ChatGenerationChunk({ text: "", message });
  }

  #count(counts: UsageMetadata): void {
    const before = this.#counts;
    if (!before) {
      this.#counts = { ...counts };
      return;
    }
    const input_tokens = before.input_tokens + counts.input_tokens;
    const output_tokens = this.#kind.countsAreTotals
      ? counts.output_tokens
      : before.output_tokens + counts.output_tokens;
    this.#counts = { ...before, ...counts, input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
  }
}

/** Whether a piece gives anything out: once one has, the answer can't be begun anew by another attempt. */
export function isVisible({ message, text }: ChatGenerationChunk): boolean {
  if (text !== "") return true;
  if (message instanceof AIMessageChunk && (message.tool_call_chunks?.length ?? 0) > 0) return true;
  if (Array.isArray(message.content) && message.content.length > 0) return true;
  return typeof message.additional_kwargs["reasoning_content"] === "string";
}

// A server of one's own may give every answer the same id. An agent's history would then keep only the last of them: a message
// with a known id replaces the other. Without one, LangChain gives each its own.
function dropId(message: AIMessageChunk): void {
  delete message.id;
  delete message.lc_kwargs["id"];
}

function sizeOf(message: BaseMessage): number {
  const content = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
  const calls = message instanceof AIMessageChunk ? (message.tool_call_chunks ?? []) : [];
  return content.length + calls.reduce((sum, call) => sum + (call.args?.length ?? 0) + (call.name?.length ?? 0), 0);
}

function nameIn(said: Record<string, unknown> | undefined): string | undefined {
  const name = said?.["model_name"] ?? said?.["model"];
  return typeof name === "string" && name !== "" ? name : undefined;
}
