import { AppError, type Scope } from "@cognition/contract";
import { isOffline, type ProviderDefinition } from "./provider-definition.ts";
import { visibleProviders } from "./scope-order.ts";

/** What one level may ask for. Null and undefined both leave it to the next level. */
export interface ModelChoice {
  readonly provider_id?: string | null | undefined;
  readonly provider?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly max_tokens?: number | null | undefined;
}

export interface ModelRequest {
  readonly message?: ModelChoice | undefined;
  readonly session?: ModelChoice | undefined;
  readonly agent?: ModelChoice | undefined;
  readonly scope?: Scope | undefined;
}

export interface ModelParameters {
  readonly temperature?: number;
  readonly max_tokens?: number;
}

export interface ModelTarget {
  readonly provider: ProviderDefinition;
  readonly model: string;
}

/** What a request came to. `fallbacks` are tried in order when the target fails before its first token. */
export interface ModelSelection extends ModelTarget {
  readonly parameters: ModelParameters;
  readonly fallbacks: readonly ModelTarget[];
}

export interface SelectOptions {
  readonly defaults?: ModelChoice | undefined;
  readonly fallback?: boolean | undefined;
}

/**
 * The precedence, for everything: message, session, agent, default. The first level that names a model, a provider or a
 * `provider_id` decides all three together: a model named for one message is not sent to a provider that the session
 * was pinned to for another model. Parameters are taken one by one, each from the first level that has it.
 */
export function selectModel(
  providers: readonly ProviderDefinition[],
  request: ModelRequest,
  { defaults = {}, fallback = false }: SelectOptions = {},
): ModelSelection {
  const visible = visibleProviders(providers, request.scope);
  const levels = [request.message, request.session, request.agent, defaults].map((level) => level ?? {});
  const deciding = levels.findIndex((level) => level.model || level.provider || level.provider_id);
  const choice = levels[deciding] ?? {};
  const provider = pickProvider(visible, choice);
  const inherited = levels.slice(Math.max(deciding, 0)).find((level) => level.model)?.model;
  const model = choice.model ?? provider.model ?? inherited;
  if (!model) throw noModel(provider, visible);
  // A pin means this provider and no other, so there is nothing to fall back to. A default is where to begin.
  const isPinned = Boolean(choice.provider_id) && choice !== defaults;
  const fallbacks = fallback && !isPinned ? fallbackTargets(visible, provider) : [];
  return { provider, model, parameters: mergeParameters(levels), fallbacks };
}

function pickProvider(visible: readonly ProviderDefinition[], choice: ModelChoice): ProviderDefinition {
  if (choice.provider_id) return pinned(visible, choice.provider_id);
  const enabled = visible.filter((provider) => provider.enabled);
  if (choice.provider) {
    const found = enabled.find((provider) => provider.provider === choice.provider);
    if (found) return found;
    throw unknownProvider(`No enabled provider is of the kind "${choice.provider}"`, [
      ...new Set(enabled.map((provider) => provider.provider)),
    ]);
  }
  const first = enabled[0];
  if (first) return first;
  const known = visible.map((provider) => provider.id);
  throw new AppError(
    "no_provider_enabled",
    `No model provider is enabled${known.length > 0 ? ` (disabled: ${known.join(", ")})` : ""}. ` +
      "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, configure a provider, or turn the offline model on.",
    { details: { valid: [], disabled: known } },
  );
}

function pinned(visible: readonly ProviderDefinition[], id: string): ProviderDefinition {
  const provider = visible.find((candidate) => candidate.id === id);
  const valid = visible.filter((candidate) => candidate.enabled).map((candidate) => candidate.id);
  if (!provider) throw unknownProvider(`There is no provider with the id "${id}"`, valid);
  // The offline provider stands back for real ones by being disabled; who names it has asked for it.
  if (provider.enabled || isOffline(provider)) return provider;
  throw new AppError(
    "no_provider_enabled",
    `The provider "${id}" is disabled. Enable it, or choose one of: ${valid.join(", ") || "none is enabled"}.`,
    { details: { valid } },
  );
}

function fallbackTargets(visible: readonly ProviderDefinition[], first: ProviderDefinition): ModelTarget[] {
  // Never the offline model: an answer that only looks like one would hide that every provider failed.
  return visible.flatMap((provider) =>
    provider.enabled && provider !== first && provider.model && !isOffline(provider)
      ? [{ provider, model: provider.model }]
      : [],
  );
}

function mergeParameters(levels: readonly ModelChoice[]): ModelParameters {
  const temperature = levels.find((level) => level.temperature != null)?.temperature;
  const max_tokens = levels.find((level) => level.max_tokens != null)?.max_tokens;
  return { ...(temperature != null && { temperature }), ...(max_tokens != null && { max_tokens }) };
}

function unknownProvider(what: string, valid: readonly string[]): AppError {
  return new AppError("unknown_provider", `${what}; valid: ${valid.join(", ") || "none is enabled"}.`, {
    details: { valid },
  });
}

function noModel(provider: ProviderDefinition, visible: readonly ProviderDefinition[]): AppError {
  const valid = visible.flatMap(({ enabled, model, id }) => (enabled && model ? [`${model} (${id})`] : []));
  return new AppError(
    "unknown_model",
    `The provider "${provider.id}" has no model of its own and the request names none. ` +
      `Name one; models configured here: ${valid.join(", ") || "none"}.`,
    { details: { provider_id: provider.id, valid } },
  );
}
