import type { BaseMessageChunk } from "@langchain/core/messages";
import { ChatOpenAICompletions } from "@langchain/openai";

/**
 * Chat Completions as they come from servers that take the protocol lightly. What they answer is the assistant's, whether
 * they say so or not: without the role the package drops the calls. A refusal comes in a field of its own, which it drops too.
 */
export class OpenAIAnswers extends ChatOpenAICompletions {
  protected override _convertCompletionsDeltaToBaseMessageChunk(
    ...[delta, rawResponse]: Parameters<ChatOpenAICompletions["_convertCompletionsDeltaToBaseMessageChunk"]>
  ): BaseMessageChunk {
    const content = delta["content"] || delta["refusal"];
    return super._convertCompletionsDeltaToBaseMessageChunk({ ...delta, content, role: "assistant" }, rawResponse);
  }
}
