import type { BaseMessageChunk } from "@langchain/core/messages";
import { ChatOpenAICompletions } from "@langchain/openai";

/**
 * Chat Completions as they come from servers that take the protocol lightly. What they answer is the assistant's, whether
 * they say so or not: without the role the package drops the calls. A refusal comes in a field of its own, which it drops too, as
 * do thoughts: `reasoning_content` of some (DeepSeek, older vLLM), which it knows, `reasoning` of others (Ollama, OpenRouter, vLLM).
 */
export class OpenAIAnswers extends ChatOpenAICompletions {
  protected override _convertCompletionsDeltaToBaseMessageChunk(
    ...[delta, rawResponse]: Parameters<ChatOpenAICompletions["_convertCompletionsDeltaToBaseMessageChunk"]>
  ): BaseMessageChunk {
    const content = delta["content"] || delta["refusal"];
    const reasoning_content = [delta["reasoning_content"], delta["reasoning"]].find(isThought);
    const answer = { ...delta, content, reasoning_content, role: "assistant" as const };
    return super._convertCompletionsDeltaToBaseMessageChunk(answer, rawResponse);
  }
}

function isThought(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
