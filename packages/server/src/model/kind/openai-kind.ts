import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import type { ModelFields, ProviderKind } from "../provider-kind.ts";
import { fitCompatibleBlock, fitOpenAIBlock } from "./openai-blocks.ts";

const OPENAI_URL = "https://api.openai.com/v1";

/** A server of one's own often needs no key. The package would look for OPENAI_API_KEY then, and send it there. */
const NO_KEY = "none";

async function load(fields: ModelFields): Promise<BaseChatModel> {
  const [{ ChatOpenAI }, { CompatibleAnswers, OpenAIAnswers }, { OpenAIResponses }] = await Promise.all([
    import("@langchain/openai"),
    import("./openai-answers.ts"),
    import("./openai-responses.ts"),
  ]);
  const { temperature, max_tokens } = fields.parameters;
  const options = {
    model: fields.model,
    apiKey: fields.api_key ?? NO_KEY,
    timeout: fields.timeoutMs,
    maxRetries: 0,
    streaming: true,
    ...(temperature !== undefined && { temperature }),
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    configuration: {
      baseURL: fields.base_url ?? OPENAI_URL,
      fetch: fields.fetch,
      organization: null,
      project: null,
      logLevel: "off" as const,
    },
  };
  // Servers that speak "the OpenAI protocol" speak Chat Completions; only OpenAI itself has the Responses API.
  if (fields.base_url !== null) return new CompatibleAnswers(options);
  const completions = new OpenAIAnswers(options);
  // Unless it is told otherwise, this protocol makes a duty of every argument that a tool can do without.
  const responses = new OpenAIResponses({ ...options, supportsStrictToolCalling: false });
  return new ChatOpenAI({ ...options, completions, responses });
}

function endOf({ generationInfo, message }: ChatGenerationChunk): string | undefined {
  const said: Record<string, unknown> = { ...message.response_metadata, ...generationInfo };
  if (said["finish_reason"] != null) return String(said["finish_reason"]);
  // The Responses API tells its end by the response's status instead.
  if (said["status"] === "completed") return "completed";
  if (said["status"] !== "incomplete") return undefined;
  const { reason } = (said["incomplete_details"] ?? {}) as { reason?: unknown };
  return String(reason ?? "incomplete");
}

export const openaiKind: ProviderKind = {
  name: "openai",
  defaultUrl: OPENAI_URL,
  defaultKeyEnv: "OPENAI_API_KEY",
  load,
  endOf,
  fitBlock: fitOpenAIBlock,
};

/** Any server with OpenAI's Chat Completions under its own `base_url`. */
export const openaiCompatibleKind: ProviderKind = {
  name: "openai_compatible",
  defaultUrl: null,
  defaultKeyEnv: null,
  load,
  endOf,
  fitBlock: fitCompatibleBlock,
};
