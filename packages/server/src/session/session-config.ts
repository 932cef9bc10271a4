import type { SessionConfig, SessionConfigPatch } from "@cognition/contract";

const NAMES_A_MODEL = ["model", "provider", "provider_id"] as const;

export function namesAModel(config: SessionConfigPatch): boolean {
  return NAMES_A_MODEL.some((field) => config[field] !== undefined);
}

/** A model alone is the first enabled provider's: one that the session was pinned to before was for another model. */
export function releaseProvider(patch: SessionConfigPatch): SessionConfigPatch {
  if (!patch.model || patch.provider !== undefined || patch.provider_id !== undefined) return patch;
  return { ...patch, provider: null, provider_id: null };
}

/** As the storage will merge it. */
export function mergedConfig(stored: SessionConfig, patch: SessionConfigPatch): SessionConfig {
  const entries = Object.entries({ ...stored, ...patch });
  return Object.fromEntries(entries.filter(([, value]) => value !== null && value !== undefined));
}
