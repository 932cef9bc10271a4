import type { KeyRing } from "./key-ring.ts";
import { OFFLINE_PROVIDER_ID, type ProviderDefinition } from "./provider-definition.ts";

/** `auto`: the offline model answers only while no other provider is enabled. It can be pinned by its id unless `off`. */
export type OfflineMode = "auto" | "on" | "off";

const common = {
  enabled: true,
  base_url: null,
  max_retries: 2,
  timeout_ms: 60_000,
  scope: {},
  source: "builtin",
} as const;

const FROM_ENVIRONMENT: readonly ProviderDefinition[] = [
  {
    ...common,
    id: "openai",
    provider: "openai",
    display_name: "OpenAI",
    model: "gpt-5.4-mini",
    api_key_env: "OPENAI_API_KEY",
    priority: 1_000,
  },
  {
    ...common,
    id: "anthropic",
    provider: "anthropic",
    display_name: "Anthropic",
    model: "claude-sonnet-5",
    api_key_env: "ANTHROPIC_API_KEY",
    priority: 1_001,
  },
];

/** A key in the environment is all it takes; a configured provider goes first, its priority being a lower number. */
export function builtinProviders(keys: KeyRing): ProviderDefinition[] {
  return FROM_ENVIRONMENT.filter((provider) => keys.has(provider.api_key_env));
}

export function offlineProvider(enabled: boolean): ProviderDefinition {
  return {
    ...common,
    id: OFFLINE_PROVIDER_ID,
    provider: "offline",
    display_name: "Offline model (built in, no real language model)",
    model: "offline",
    api_key_env: null,
    priority: 1_000_000,
    max_retries: 0,
    enabled,
  };
}
