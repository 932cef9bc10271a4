import { AppError } from "@cognition/contract";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import type { FitBlock } from "./fit-messages.ts";
import { anthropicKind } from "./kind/anthropic-kind.ts";
import { bedrockKind } from "./kind/bedrock-kind.ts";
import { googleKind } from "./kind/google-kind.ts";
import { ollamaKind } from "./kind/ollama-kind.ts";
import { openaiCompatibleKind, openaiKind } from "./kind/openai-kind.ts";
import type { ModelParameters } from "./select-model.ts";

/** What a kind needs to make its chat model. Everything is passed, so that no package reads the environment for itself. */
export interface ModelFields {
  readonly model: string;
  readonly base_url: string | null;
  readonly api_key: string | null;
  readonly parameters: ModelParameters;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
}

/** One way to talk to providers. Adding one is adding an entry to the list below. */
export interface ProviderKind {
  readonly name: string;
  /** Where the key goes when a definition names no `base_url`; null where the package decides (a region, a local host). */
  readonly defaultUrl: string | null;
  readonly defaultKeyEnv: string | null;
  load(fields: ModelFields): Promise<BaseChatModel>;
  /**
   * Why the answer ended, in the provider's word, if this piece says that it is complete. A connection that closes cleanly in the middle looks like the end
   * to the SDKs, which then hand out half an answer; undefined where the protocol's end could not be checked.
   */
  readonly endOf?: (chunk: ChatGenerationChunk) => string | undefined;
  /** Whether a later piece's count of output tokens replaces the earlier ones rather than adding to them. */
  readonly countsAreTotals?: boolean;
  /** The form in which it is sent what users and tools give; as it came where its forms are not known. */
  readonly fitBlock?: FitBlock;
}

const KINDS: readonly ProviderKind[] = [
  openaiKind,
  openaiCompatibleKind,
  anthropicKind,
  googleKind,
  bedrockKind,
  ollamaKind,
];

export function findProviderKind(name: string): ProviderKind | undefined {
  return KINDS.find((kind) => kind.name === name);
}

export function getProviderKind(name: string): ProviderKind {
  const kind = findProviderKind(name);
  if (kind) return kind;
  const valid = [...KINDS.map((known) => known.name), "offline"];
  throw new AppError("unknown_provider", `There is no kind of provider "${name}"; valid: ${valid.join(", ")}.`, {
    details: { valid },
  });
}
