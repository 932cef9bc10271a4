import { AppError } from "@cognition/contract";
import type { KeyRing } from "./key-ring.ts";
import { isOffline, type ProviderDefinition } from "./provider-definition.ts";
import { getProviderKind } from "./provider-kind.ts";

/** Refuses a definition that could never work, or that would send a key where it does not belong, when it is made. */
export function checkProvider(provider: ProviderDefinition, keys: KeyRing): void {
  if (isOffline(provider)) return;
  const kind = getProviderKind(provider.provider);
  const url = provider.base_url ?? kind.defaultUrl;
  if (url === null && kind.name === "openai_compatible") {
    throw new AppError(
      "invalid_config",
      `The provider "${provider.id}" is of the kind openai_compatible and needs a base_url, such as http://127.0.0.1:8080/v1.`,
      { details: { provider_id: provider.id } },
    );
  }
  // Its package takes a host, and asks it over https whatever the address said.
  if (kind.name === "bedrock" && url !== null && new URL(url).protocol !== "https:") {
    throw new AppError(
      "invalid_config",
      `The provider "${provider.id}" is of the kind bedrock, whose base_url must begin with https.`,
      { details: { provider_id: provider.id } },
    );
  }
  if (provider.api_key_env === null) return;
  if (url === null) {
    throw new AppError(
      "invalid_config",
      `The provider "${provider.id}" names ${provider.api_key_env} but no base_url, so there is no host to bind the key to.`,
      { details: { provider_id: provider.id } },
    );
  }
  keys.check(provider.api_key_env, url);
}
