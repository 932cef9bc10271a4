import { readStopReason } from "@cognition/thread";
import { AIMessageChunk, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { AnswerCalls } from "./answer-calls.ts";
import type { ModelSource } from "./model-source.ts";
import { estimateMessageTokens, estimateTokens } from "./token-estimate.ts";
import { type CallOrigin, readCounts, readName } from "./usage.ts";

/** What has been seen of one answer: whether it is complete, what it used, who gave it. */
export class StreamAccount {
  readonly #kind: ModelSource["kind"];
  readonly #messages: readonly BaseMessage[];
  #counts: UsageMetadata | undefined;
  #miscounted = false;
  #characters = 0;
  readonly #calls = new AnswerCalls();
  #end: string | undefined;
  #said = false;
  #blocks = false;
  #model: string | undefined;

  constructor({ kind }: Pick<ModelSource, "kind">, messages: readonly BaseMessage[]) {
    this.#kind = kind;
    this.#messages = messages;
  }

  /** Undefined where the kind's protocol has no end that could be checked. */
  get ended(): boolean | undefined {
    return this.#kind.endOf ? this.#end !== undefined : undefined;
  }

  /** Why it ended, in the provider's own word. */
  get end(): string | undefined {
    return this.#end;
  }

  /** Whether nothing came: no text, no call. What a model only thought is no answer. */
  get isEmpty(): boolean {
    return !this.#said && this.#calls.isEmpty;
  }

  /** Whether anything of it has come, be it only a count: from then on it is paid for. */
  get begun(): boolean {
    return this.#counts !== undefined || this.#characters + this.#calls.characters > 0;
  }

  /** The model that the provider says has answered: often a dated snapshot of the one that was asked. */
  get model(): string | undefined {
    return this.#model;
  }

  /**
   * Notes what a piece says and takes its calls, counts and names out of it. Merging pieces adds numbers and joins texts, so
   * that a count given twice would be doubled and a model's name repeated; all of them are told once, at the end.
   */
  read(given: ChatGenerationChunk): ChatGenerationChunk {
    const { chunk, message } = asAnswer(given);
    this.#end = this.#kind.endOf?.(chunk) ?? this.#end;
    this.#model ??=
      nameIn(chunk.generationInfo) ?? nameIn(message.response_metadata) ?? nameIn(message.additional_kwargs);
    this.#calls.take(message);
    if (Array.isArray(message.content)) message.content = message.content.filter((block) => !isTextless(block));
    this.#characters += sizeOf(message);
    this.#said ||= saysSomething(message);
    this.#blocks ||= Array.isArray(message.content);
    dropId(message);
    if (message.usage_metadata) this.#count(message.usage_metadata);
    delete message.usage_metadata;
    delete message.response_metadata["model_name"];
    if (chunk.generationInfo) delete chunk.generationInfo["model_name"];
    return chunk;
  }

  /** What the provider reported, or an estimate from the text where it reported nothing that can be true. */
  usage(): { counts: UsageMetadata; estimated: boolean } {
    const output_tokens = estimateTokens(" ".repeat(this.#characters + this.#calls.characters));
    // Nothing was ever asked with nothing: some servers and packages count 0 where they were told nothing.
    if (!this.#counts?.input_tokens || this.#miscounted) {
      const input_tokens = estimateMessageTokens(this.#messages);
      return { counts: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }, estimated: true };
    }
    // Anthropic counts the output at the end: before it, what was reported is only the beginning.
    const { input_tokens, output_tokens: reported } = this.#counts;
    if (this.ended !== false || reported >= output_tokens) return { counts: this.#counts, estimated: false };
    return {
      counts: { ...this.#counts, output_tokens, total_tokens: input_tokens + output_tokens },
      estimated: true,
    };
  }

  /** The last piece: no text, but the tools that the answer calls, what the whole of it used and who gave it. */
  closing(origin: CallOrigin): ChatGenerationChunk {
    const stop_reason = readStopReason(this.#end);
    const { usable, unusable } = this.#calls.read(stop_reason);
    const message = new AIMessageChunk({
      // Of the same shape as the pieces before: an empty text merged into a list would leave an empty block.
      content: this.#blocks ? [] : "",
      tool_calls: usable,
      response_metadata: {
        model_name: origin.model,
        cognition: {
          ...origin,
          ...(stop_reason && { stop_reason }),
          ...(unusable.length > 0 && { unusable_calls: unusable }),
        },
      },
    });
    Object.assign(message, { usage_metadata: this.usage().counts });
    return new ChatGenerationChunk({ text: "", message });
  }

  #count(reported: UsageMetadata): void {
    const before = this.#counts;
    const counts = readCounts(reported);
    if (!counts) this.#miscounted = true;
    if (!counts || !before) {
      this.#counts = counts;
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
  if (Array.isArray(message.content) && message.content.some((block) => block["text"] !== "")) return true;
  return typeof message.additional_kwargs["reasoning_content"] === "string";
}

/** LangChain makes something else of a piece that does not say that it is an assistant's, and an agent refuses that. */
function asAnswer(chunk: ChatGenerationChunk): { chunk: ChatGenerationChunk; message: AIMessageChunk } {
  const { message, text, generationInfo } = chunk;
  if (message instanceof AIMessageChunk) return { chunk, message };
  const { content, additional_kwargs, response_metadata, id } = message;
  const answer = new AIMessageChunk({ content, additional_kwargs, response_metadata, ...(id !== undefined && { id }) });
  return {
    chunk: new ChatGenerationChunk({ text, message: answer, ...(generationInfo && { generationInfo }) }),
    message: answer,
  };
}

const THOUGHTS: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking", "reasoning"]);

function saysSomething({ content }: AIMessageChunk): boolean {
  if (typeof content === "string") return content !== "";
  return content.some((block) => !THOUGHTS.has(block.type) && block["text"] !== "");
}

/** The provider that gave it would refuse to be sent it back. */
function isTextless(block: { type?: unknown; text?: unknown }): boolean {
  return block.type === "text" && "text" in block && typeof block.text !== "string";
}

// Without one, LangChain gives each its own. The provider's is in some pieces of an answer and not in others, so that the message would
// not be that of which its words were told; and a server may give every answer the same one: an agent's history would keep the last of them.
function dropId(message: AIMessageChunk): void {
  delete message.id;
  delete message.lc_kwargs["id"];
}

function sizeOf({ content }: AIMessageChunk): number {
  return typeof content === "string" ? content.length : content.reduce((sum, block) => sum + wordsOf(block).length, 0);
}

/** Without the names of its members, which come again with each piece. */
function wordsOf(block: Record<string, unknown>): string {
  const words = [block["text"], block["thinking"], block["reasoning"]].find((each) => typeof each === "string");
  return words ?? JSON.stringify(block);
}

function nameIn(said: Record<string, unknown> | undefined): string | undefined {
  return readName(said?.["model_name"] ?? said?.["model"]);
}
