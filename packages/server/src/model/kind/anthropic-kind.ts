import type { ProviderKind } from "../provider-kind.ts";
import { fitAnthropicBlock } from "./anthropic-blocks.ts";

const ANTHROPIC_URL = "https://api.anthropic.com";

export const anthropicKind: ProviderKind = {
  name: "anthropic",
  defaultUrl: ANTHROPIC_URL,
  defaultKeyEnv: "ANTHROPIC_API_KEY",
  async load({ model, base_url, api_key, parameters, fetch, timeoutMs }) {
    const { AnthropicAnswers } = await import("./anthropic-answers.ts");
    return new AnthropicAnswers({
      model,
      // Never empty: the package would look for ANTHROPIC_API_KEY then, and send it to `base_url`.
      apiKey: api_key ?? "none",
      anthropicApiUrl: base_url ?? ANTHROPIC_URL,
      maxRetries: 0,
      streaming: true,
      ...(parameters.temperature !== undefined && { temperature: parameters.temperature }),
      ...(parameters.max_tokens !== undefined && { maxTokens: parameters.max_tokens }),
      clientOptions: { fetch, timeout: timeoutMs, authToken: null, logLevel: "off" },
    });
  },
  endOf: ({ message }) => {
    const reason = message.additional_kwargs["stop_reason"];
    return reason == null ? undefined : String(reason);
  },
  // `message_delta` carries the whole count; the first event's is already in it.
  countsAreTotals: true,
  fitBlock: fitAnthropicBlock,
};
