import type { Provider } from "@cognition/contract";

/** A provider as it is configured. Whether its key is set is a fact of the process, not of the definition. */
export type ProviderDefinition = Omit<Provider, "has_key">;

export const OFFLINE_PROVIDER_ID = "offline";

export function isOffline(provider: Pick<ProviderDefinition, "provider">): boolean {
  return provider.provider === "offline";
}
