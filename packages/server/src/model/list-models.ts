import type { Model } from "@cognition/contract";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import { findPrice, PRICE_LISTS } from "./price-table.ts";
import { isOffline, type ProviderDefinition } from "./provider-definition.ts";
import { findProviderKind } from "./provider-kind.ts";

/** The models that an enabled provider is known to have: its own, and at its maker's address those with a known price. */
export async function listModels(providers: readonly ProviderDefinition[]): Promise<Model[]> {
  const models = providers
    .filter(({ enabled }) => enabled)
    .flatMap((provider) => namesOf(provider).map((id) => describe(provider, id)));
  return Promise.all(models);
}

function namesOf({ provider, base_url, model }: ProviderDefinition): string[] {
  const priced = base_url === null ? PRICE_LISTS.find((list) => list.provider === provider) : undefined;
  return [...new Set([...(model ? [model] : []), ...Object.keys(priced?.models ?? {})])];
}

async function describe(provider: ProviderDefinition, id: string): Promise<Model> {
  const price = findPrice(provider.provider, id);
  const profile = await profileOf(provider, id);
  return {
    id,
    provider_id: provider.id,
    provider: provider.provider,
    context_window: profile.maxInputTokens ?? null,
    max_output_tokens: profile.maxOutputTokens ?? null,
    input_price: price?.input ?? null,
    output_price: price?.output ?? null,
  };
}

// The shipped packages know the limits of their makers' models. For any other address the same name may mean anything.
async function profileOf(provider: ProviderDefinition, model: string): Promise<ModelProfile> {
  if (isOffline(provider) || provider.base_url !== null) return {};
  if (provider.provider !== "openai" && provider.provider !== "anthropic") return {};
  const fields = { model, base_url: null, api_key: null, parameters: {}, fetch, timeoutMs: 1 };
  const chat = await findProviderKind(provider.provider)?.load(fields);
  return (chat as { profile?: ModelProfile } | undefined)?.profile ?? {};
}
