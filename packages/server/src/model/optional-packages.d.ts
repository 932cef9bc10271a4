// Packages of providers that are not shipped: only what their loaders use, so that this compiles without them.
declare module "@langchain/google-genai" {
  export const ChatGoogleGenerativeAI: new (
    fields: Record<string, unknown>,
  ) => import("@langchain/core/language_models/chat_models").BaseChatModel & {
    client: import("./kind/google-kind.ts").GoogleClient;
  };
}
declare module "@langchain/aws" {
  export const ChatBedrockConverse: new (
    fields: Record<string, unknown>,
  ) => import("@langchain/core/language_models/chat_models").BaseChatModel;
}
declare module "@langchain/ollama" {
  import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

  export class ChatOllama extends BaseChatModel {
    constructor(fields: Record<string, unknown>);
    _llmType: BaseChatModel["_llmType"];
    _generate: BaseChatModel["_generate"];
  }
}
