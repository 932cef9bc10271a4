import type { ContentBlock } from "@cognition/contract";
import type { BaseMessage } from "@langchain/core/messages";
import { readMedia } from "./media.ts";

// English text and code come to about four characters a token with the usual tokenizers.
const CHARACTERS_PER_TOKEN = 4;
/** Roles and separators that every message costs besides its text. */
const TOKENS_PER_MESSAGE = 4;
/** Providers count a picture by its width and height, about so many for a large one. By its bytes it would be more than any budget. */
const TOKENS_PER_IMAGE = 1_600;

/** A rough count, for budgets and for providers that report none. Whoever shows it says that it is an estimate. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

export function estimateMessageTokens(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + TOKENS_PER_MESSAGE + contentTokens(message) + callTokens(message), 0);
}

function contentTokens({ content }: BaseMessage): number {
  if (typeof content === "string") return estimateTokens(content);
  return (content as ContentBlock[]).reduce((sum, block) => sum + blockTokens(block), 0);
}

function blockTokens(block: ContentBlock): number {
  return readMedia(block)?.kind === "image" ? TOKENS_PER_IMAGE : estimateTokens(JSON.stringify(block));
}

function callTokens(message: BaseMessage): number {
  return "tool_calls" in message ? estimateTokens(JSON.stringify(message.tool_calls ?? "")) : 0;
}
