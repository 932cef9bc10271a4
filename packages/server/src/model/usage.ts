import type { StopReason, TokenUsage } from "@cognition/contract";
import { AIMessageChunk, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import type { UnusableCall } from "./answer-calls.ts";
import { estimateCost } from "./price-table.ts";

/** What one model call used, as the provider reported it; `estimated` where it reported nothing. */
export interface CallUsage {
  readonly provider_id: string;
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Parts of the input and the output, already counted in them. */
  readonly cache_read_tokens: number;
  readonly cache_creation_tokens: number;
  readonly reasoning_tokens: number;
  readonly estimated: boolean;
  /** In US dollars; null where no price is known. */
  readonly estimated_cost: number | null;
}

/** Who answered, in `response_metadata.cognition` of every message that a model of ours has made. */
export interface CallOrigin {
  readonly provider_id: string;
  readonly provider: string;
  readonly model: string;
  readonly estimated: boolean;
  readonly attempts: number;
  /** Providers that were tried first and failed. */
  readonly fallback_from: readonly string[];
  /** Set where the answer is not whole. */
  readonly stop_reason?: StopReason;
  /** Calls of tools that are not among the message's own, since nobody may run them. */
  readonly unusable_calls?: readonly UnusableCall[];
}

type Origin = Pick<CallOrigin, "provider_id" | "provider" | "model" | "estimated">;

/** More than any model reads or writes at once. What is beyond is no count, and sums of it could not be stored. */
const MOST_TOKENS = 1_000_000_000;
const MAX_NAME_LENGTH = 256;
const UNFINISHED = "cognition_unfinished";

/** A report of tokens as far as it can be true; undefined where its totals can't. Some servers report texts, or less than nothing. */
export function readCounts(reported: UsageMetadata): UsageMetadata | undefined {
  const { input_tokens, output_tokens, input_token_details, output_token_details } = reported;
  if (!isCount(input_tokens) || !isCount(output_tokens)) return undefined;
  return {
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    ...(input_token_details && { input_token_details: trueParts(input_token_details) }),
    ...(output_token_details && { output_token_details: trueParts(output_token_details) }),
  };
}

function trueParts<T extends object>(details: T): T {
  return Object.fromEntries(Object.entries(details).filter(([, count]) => isCount(count))) as T;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
}

/** A name that somebody else gives a model, if it can be stored and shown. */
export function readName(name: unknown): string | undefined {
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH) return undefined;
  return name.isWellFormed() && !name.includes("\0") ? name : undefined;
}

export function toCallUsage(origin: Origin, counts: UsageMetadata): CallUsage {
  const usage = {
    provider_id: origin.provider_id,
    provider: origin.provider,
    model: origin.model,
    input_tokens: counts.input_tokens,
    output_tokens: counts.output_tokens,
    cache_read_tokens: counts.input_token_details?.cache_read ?? 0,
    cache_creation_tokens: counts.input_token_details?.cache_creation ?? 0,
    reasoning_tokens: counts.output_token_details?.reasoning ?? 0,
    estimated: origin.estimated,
  };
  return { ...usage, estimated_cost: estimateCost(usage) };
}

/** The usage that a message carries; undefined for one that no model of ours has made. */
export function usageOf(message: BaseMessage): CallUsage | undefined {
  const origin = originOf(message);
  const counts = (message as { usage_metadata?: UsageMetadata }).usage_metadata;
  return origin && counts ? toCallUsage(origin, counts) : undefined;
}

/** The same for a model that is not ours: as it says itself who it is and what it used. */
export function reportedUsage(message: BaseMessage): CallUsage | undefined {
  const own = usageOf(message);
  const reported = (message as { usage_metadata?: UsageMetadata }).usage_metadata;
  const counts = reported && readCounts(reported);
  if (own || !counts) return own;
  const { model_provider, model_name } = message.response_metadata as Record<string, unknown>;
  const provider = readName(model_provider) ?? "unknown";
  const model = readName(model_name) ?? "unknown";
  return toCallUsage({ provider_id: provider, provider, model, estimated: false }, counts);
}

export function originOf(message: BaseMessage): CallOrigin | undefined {
  return message.response_metadata?.["cognition"] as CallOrigin | undefined;
}

/** A piece that is in no answer: it tells a run's listeners what attempts have used that did not come to their end. */
export function unfinishedChunk(unfinished: readonly CallUsage[]): ChatGenerationChunk {
  const message = new AIMessageChunk({ content: "", response_metadata: { [UNFINISHED]: unfinished } });
  return new ChatGenerationChunk({ text: "", message });
}

export function unfinishedIn(message: BaseMessage | undefined): readonly CallUsage[] {
  return (message?.response_metadata?.[UNFINISHED] as readonly CallUsage[] | undefined) ?? [];
}

/** Adds a call to a run's totals. One unknown price makes the sum unknown: a part would pass for the whole. */
export function addUsage(total: TokenUsage | undefined, call: CallUsage): TokenUsage {
  const before = total && Object.hasOwn(total.by_model, call.model) ? total.by_model[call.model] : undefined;
  const estimated = total?.estimated || call.estimated;
  return {
    ...sum(total, call),
    provider: call.provider,
    model: call.model,
    by_model: { ...total?.by_model, [call.model]: sum(before, call) },
    ...(estimated && { estimated }),
  };
}

type Counts = Pick<CallUsage, "input_tokens" | "output_tokens" | "estimated_cost">;

function sum(before: Counts | undefined, call: Counts): Counts {
  const cost = before === undefined ? 0 : before.estimated_cost;
  return {
    input_tokens: (before?.input_tokens ?? 0) + call.input_tokens,
    output_tokens: (before?.output_tokens ?? 0) + call.output_tokens,
    estimated_cost: cost === null || call.estimated_cost === null ? null : cost + call.estimated_cost,
  };
}
