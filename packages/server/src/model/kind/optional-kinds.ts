import { AppError } from "@cognition/contract";
import type { ModelFields, ProviderKind } from "../provider-kind.ts";

type Parameters = Pick<ModelFields, "model" | "parameters">;

export const googleKind: ProviderKind = {
  name: "google",
  defaultUrl: "https://generativelanguage.googleapis.com",
  defaultKeyEnv: "GOOGLE_API_KEY",
  async load(fields) {
    const { ChatGoogleGenerativeAI } = await loadPackage(
      "google",
      "@langchain/google-genai",
      () => import("@langchain/google-genai"),
    );
    return new ChatGoogleGenerativeAI({
      ...common(fields, "maxOutputTokens"),
      apiKey: fields.api_key ?? "none",
      ...(fields.base_url && { baseUrl: fields.base_url }),
    });
  },
};

/** Its credentials are AWS's own (profile, role, instance): that package finds them by itself. */
export const bedrockKind: ProviderKind = {
  name: "bedrock",
  defaultUrl: null,
  defaultKeyEnv: null,
  async load(fields) {
    const { ChatBedrockConverse } = await loadPackage("bedrock", "@langchain/aws", () => import("@langchain/aws"));
    return new ChatBedrockConverse({
      ...common(fields, "maxTokens"),
      ...(fields.base_url && { endpointHost: new URL(fields.base_url).host }),
    });
  },
};

export const ollamaKind: ProviderKind = {
  name: "ollama",
  defaultUrl: "http://127.0.0.1:11434",
  defaultKeyEnv: null,
  async load(fields) {
    const { ChatOllama } = await loadPackage("ollama", "@langchain/ollama", () => import("@langchain/ollama"));
    return new ChatOllama({
      ...common(fields, "numPredict"),
      baseUrl: fields.base_url ?? "http://127.0.0.1:11434",
      fetch: fields.fetch,
    });
  },
};

function common({ model, parameters }: Parameters, maxTokensName: string): Record<string, unknown> {
  return {
    model,
    maxRetries: 0,
    ...(parameters.temperature !== undefined && { temperature: parameters.temperature }),
    ...(parameters.max_tokens !== undefined && { [maxTokensName]: parameters.max_tokens }),
  };
}

/** Only an absent package is told as such: one that is there and fails to load tells its own reason. */
async function loadPackage<T>(kind: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isAbsent(error, name)) throw error;
    throw new AppError(
      "invalid_config",
      `Providers of the kind "${kind}" need the package ${name}, which is not installed. ` +
        `Run "npm install ${name}" where the server is installed and start it again, or choose another provider.`,
      { details: { provider: kind, package: name }, cause: error },
    );
  }
}

function isAbsent(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !error.message.includes(name)) return false;
  // Node's own error, or what a bundler puts in the place of an optional package that it did not find.
  return ("code" in error && error.code === "ERR_MODULE_NOT_FOUND") || error.message.startsWith("Could not resolve");
}
