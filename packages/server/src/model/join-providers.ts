import { type OfflineMode, offlineProvider } from "./builtin-providers.ts";
import { OFFLINE_PROVIDER_ID, type ProviderDefinition } from "./provider-definition.ts";
import { providerKey } from "./provider-store.ts";

/** All definitions there are. One of the configuration or the API replaces a built-in one of the same id. */
export function joinProviders(
  builtin: readonly ProviderDefinition[],
  configured: readonly ProviderDefinition[],
  stored: readonly ProviderDefinition[],
  offline: OfflineMode,
): ProviderDefinition[] {
  const named = new Set([...configured, ...stored].map(providerKey));
  const real = [...builtin.filter((provider) => !named.has(providerKey(provider))), ...configured, ...stored];
  if (offline === "off" || named.has(providerKey({ id: OFFLINE_PROVIDER_ID, scope: {} }))) return real;
  return [...real, offlineProvider(offline === "on" || !real.some(isForEveryone))];
}

function isForEveryone({ enabled, scope }: ProviderDefinition): boolean {
  return enabled && Object.keys(scope).length === 0;
}
