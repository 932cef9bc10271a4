import type { ProviderKind } from "../provider-kind.ts";
import { fitBedrockBlock } from "./bedrock-blocks.ts";
import { commonFields } from "./common-fields.ts";
import { loadPackage } from "./optional-package.ts";

/** Its credentials are AWS's own (profile, role, instance): that package finds them by itself. */
export const bedrockKind: ProviderKind = {
  name: "bedrock",
  defaultUrl: null,
  defaultKeyEnv: null,
  async load(fields) {
    const { ChatBedrockConverse } = await loadPackage("bedrock", "@langchain/aws", () => import("@langchain/aws"));
    return new ChatBedrockConverse({
      ...commonFields(fields, "maxTokens"),
      ...(fields.base_url && { endpointHost: new URL(fields.base_url).host }),
    });
  },
  endOf: ({ message }) => {
    const { messageStop } = message.response_metadata as { messageStop?: { stopReason?: unknown } };
    return messageStop?.stopReason === undefined ? undefined : String(messageStop.stopReason);
  },
  fitBlock: fitBedrockBlock,
};
