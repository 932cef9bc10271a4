import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import { messageOf } from "../../file/error-text.ts";
import type { ModelFields, ProviderKind } from "../provider-kind.ts";
import { commonFields } from "./common-fields.ts";
import { fitOllamaBlock } from "./ollama-blocks.ts";
import { loadPackage } from "./optional-package.ts";

const OLLAMA_URL = "http://127.0.0.1:11434";

export const ollamaKind: ProviderKind = {
  name: "ollama",
  defaultUrl: OLLAMA_URL,
  defaultKeyEnv: null,
  async load(fields) {
    const { ChatOllama } = await loadPackage("ollama", "@langchain/ollama", () => import("@langchain/ollama"));

    /**
     * Each call has a client of its own: of one that several share the package ends all calls when one is aborted, and none
     * before its next piece comes.
     */
    class OllamaAnswers extends ChatOllama {
      override async *_streamResponseChunks(
        messages: BaseMessage[],
        options: this["ParsedCallOptions"],
      ): AsyncGenerator<ChatGenerationChunk> {
        let begun = false;
        const fetch: ModelFields["fetch"] = async (input, init) => {
          const response = await fields.fetch(input, withSignal(init, options.signal));
          begun = response.ok;
          return response;
        };
        try {
          yield* new ChatOllama({ ...settings, fetch })._streamResponseChunks(messages.map(withOneText), options);
        } catch (error) {
          // As plain as what it throws of a request that can't be made, which another attempt would not mend.
          throw begun ? new Error(messageOf(error), { cause: error }) : error;
        }
      }
    }
    const settings = { ...commonFields(fields, "numPredict"), baseUrl: fields.base_url ?? OLLAMA_URL };
    return new OllamaAnswers(settings);
  },
  endOf: ({ message }) => {
    const { done, done_reason } = message.response_metadata as { done?: unknown; done_reason?: unknown };
    return done === true ? String(done_reason ?? "stop") : undefined;
  },
  fitBlock: fitOllamaBlock,
};

function withSignal(init: RequestInit | undefined, signal: AbortSignal | undefined): RequestInit {
  const signals = [init?.signal, signal].filter((one) => one != null);
  return { ...init, signal: AbortSignal.any(signals) };
}

/** A tool's result is a text here, and nothing else. */
function withOneText(message: BaseMessage): BaseMessage {
  if (!ToolMessage.isInstance(message) || typeof message.content === "string") return message;
  const content = (message.content as { text?: unknown }[]).map(({ text }) => String(text)).join("\n");
  return new ToolMessage({ content, tool_call_id: message.tool_call_id });
}
