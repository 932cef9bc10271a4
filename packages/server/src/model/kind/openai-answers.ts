import {
  AIMessage,
  type BaseMessage,
  type BaseMessageChunk,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { ChatOpenAICompletions } from "@langchain/openai";

/**
 * Chat Completions as they come from servers that take the protocol lightly. What they answer is the assistant's, whether
 * they say so or not: without the role the package drops the calls. A refusal comes in a field of its own, which it drops too, as
 * do thoughts: `reasoning_content` of some (DeepSeek, older vLLM), which it knows, `reasoning` of others (Ollama, OpenRouter, vLLM).
 */
export class OpenAIAnswers extends ChatOpenAICompletions {
  override _streamResponseChunks(
    ...[messages, ...rest]: Parameters<ChatOpenAICompletions["_streamResponseChunks"]>
  ): ReturnType<ChatOpenAICompletions["_streamResponseChunks"]> {
    return super._streamResponseChunks(messages.map(ofThisProtocol), ...rest);
  }

  protected override _convertCompletionsDeltaToBaseMessageChunk(
    ...[delta, rawResponse]: Parameters<ChatOpenAICompletions["_convertCompletionsDeltaToBaseMessageChunk"]>
  ): BaseMessageChunk {
    const content = delta["content"] || delta["refusal"];
    const reasoning_content = [delta["reasoning_content"], delta["reasoning"]].find(isThought);
    const answer = { ...delta, content, reasoning_content, role: "assistant" as const };
    return super._convertCompletionsDeltaToBaseMessageChunk(answer, rawResponse);
  }
}

/** As a run that was aborted in its middle leaves a thread, or one that gave its answer through a tool. */
const ENDED = "(The turn ended here.)";

/** Those of other servers than OpenAI's. Mistral's models, wherever they run, refuse a user's word right behind a tool's result. */
export class CompatibleAnswers extends OpenAIAnswers {
  override _streamResponseChunks(
    ...[messages, ...rest]: Parameters<OpenAIAnswers["_streamResponseChunks"]>
  ): ReturnType<OpenAIAnswers["_streamResponseChunks"]> {
    const inTurns = messages.flatMap((message, at) => {
      const isNext = HumanMessage.isInstance(message) && ToolMessage.isInstance(messages[at - 1]);
      return isNext ? [new AIMessage(ENDED), message] : [message];
    });
    return super._streamResponseChunks(inTurns, ...rest);
  }
}

/** The blocks of the Responses API have fields that this one refuses, and of one that only thought and called it is left a list of none. */
function ofThisProtocol(message: BaseMessage): BaseMessage {
  if (!AIMessage.isInstance(message) || !("output" in message.response_metadata)) return message;
  const { text: content, tool_calls = [] } = message;
  return new AIMessage({ content, tool_calls });
}

function isThought(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
