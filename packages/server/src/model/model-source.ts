import type {
  BaseChatModel,
  BaseChatModelCallOptions,
  BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import type { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { fitMessages } from "./fit-messages.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import type { ProviderKind } from "./provider-kind.ts";
import type { Timeouts } from "./timeouts.ts";

/** One provider with one model, ready to be called. */
export interface ModelSource {
  readonly provider: ProviderDefinition;
  readonly model: string;
  readonly kind: Pick<ProviderKind, "endOf" | "countsAreTotals" | "fitBlock">;
  readonly chat: BaseChatModel;
  readonly breaker: CircuitBreaker;
  readonly timeouts: Timeouts;
}

export interface SourceCallOptions extends BaseChatModelCallOptions {
  readonly tools?: BindToolsInput[];
}

/**
 * Streams from the source. Tools are bound here, for this provider, and not when the agent binds them: which provider will
 * answer is known only now. No callbacks are passed: a piece is told to listeners once it is certain to be kept.
 */
export function openSource(
  { chat, kind, provider }: ModelSource,
  conversation: readonly BaseMessage[],
  options: SourceCallOptions,
  signal: AbortSignal,
): AsyncGenerator<ChatGenerationChunk> {
  const messages = fitMessages(conversation, provider, kind.fitBlock);
  const { tools, ...rest } = options;
  const call = { ...rest, signal };
  if (!tools?.length) return chat._streamResponseChunks(messages, call);
  const bound: unknown = chat.bindTools?.(tools, rest);
  if (isBinding(bound)) return bound.bound._streamResponseChunks(messages, { ...call, ...bound.config, signal });
  return (bound as BaseChatModel)._streamResponseChunks(messages, call);
}

interface Binding {
  readonly bound: BaseChatModel;
  readonly config: Record<string, unknown>;
}

// Some packages answer `bindTools` with a binding, others with a copy of the model that remembers the tools.
function isBinding(value: unknown): value is Binding {
  return typeof value === "object" && value !== null && "bound" in value && "config" in value;
}
