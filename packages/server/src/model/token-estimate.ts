import type { BaseMessage } from "@langchain/core/messages";

// English text and code come to about four characters a token with the usual tokenizers.
const CHARACTERS_PER_TOKEN = 4;
/** Roles and separators that every message costs besides its text. */
const TOKENS_PER_MESSAGE = 4;

/** A rough count, for budgets and for providers that report none. Whoever shows it says that it is an estimate. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

export function estimateMessageTokens(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + TOKENS_PER_MESSAGE + estimateTokens(messageText(message)), 0);
}

function messageText(message: BaseMessage): string {
  const calls = "tool_calls" in message ? JSON.stringify(message.tool_calls ?? "") : "";
  const content = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
  return content + calls;
}
