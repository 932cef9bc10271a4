import { AppError, isAppError } from "@cognition/contract";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { messageOf } from "../file/error-text.ts";
import type { CallDependencies } from "./call-sources.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";
import type { KeyRing } from "./key-ring.ts";
import type { ModelSource } from "./model-source.ts";
import { OfflineModel } from "./offline/offline-model.ts";
import { isOffline, type ProviderDefinition } from "./provider-definition.ts";
import { getProviderKind, type ProviderKind } from "./provider-kind.ts";
import { ResilientModel } from "./resilient-model.ts";
import type { ModelParameters, ModelSelection, ModelTarget } from "./select-model.ts";
import { type Timeouts, timeoutsOf } from "./timeouts.ts";

export interface ModelDependencies extends Omit<CallDependencies, "redact"> {
  readonly keys: KeyRing;
  readonly fetch: typeof fetch;
  /** One breaker for each provider, shared by all its models and runs. */
  readonly breakerOf: (provider: ProviderDefinition) => CircuitBreaker;
  readonly timeouts?: Partial<Timeouts> | undefined;
}

/** The model for a selection. Rejects with `invalid_config` where a package or a key is missing, before anything is called. */
export async function createModel(selection: ModelSelection, dependencies: ModelDependencies): Promise<BaseChatModel> {
  if (isOffline(selection.provider)) {
    return new OfflineModel({ model: selection.model, clock: dependencies.clock });
  }
  const first = await createSource(selection, selection.parameters, dependencies);
  const rest = await Promise.all(
    selection.fallbacks.map((target) => createSource(target, selection.parameters, dependencies)),
  );
  return new ResilientModel([first, ...rest], { ...dependencies, redact: dependencies.keys.redact });
}

async function createSource(
  { provider, model }: ModelTarget,
  parameters: ModelParameters,
  { keys, fetch, breakerOf, timeouts: overrides }: ModelDependencies,
): Promise<ModelSource> {
  const kind = getProviderKind(provider.provider);
  const timeouts = timeoutsOf(provider, overrides);
  const fields = {
    model,
    base_url: provider.base_url,
    api_key: keyOf(provider, kind, keys),
    parameters,
    fetch: createGuardedFetch({ fetch, provider_id: provider.id, connectMs: timeouts.connectMs }),
    timeoutMs: timeouts.totalMs,
  };
  const chat = await kind.load(fields).catch((error: unknown) => {
    throw isAppError(error) ? error : notMade(provider, keys.redact(messageOf(error)), error);
  });
  return {
    ...{ provider, model, kind, chat, timeouts },
    // Asked for at each call: one that was reset is another one, and a model may be kept for long.
    get breaker() {
      return breakerOf(provider);
    },
  };
}

/** What a package asks for itself before it can be used: a region of AWS, say. */
function notMade({ id }: ProviderDefinition, reason: string, cause: unknown): AppError {
  const message = `The provider ${id} can't be used: ${reason}`;
  return new AppError("invalid_config", message, { details: { provider_id: id }, cause });
}

function keyOf({ api_key_env, base_url }: ProviderDefinition, kind: ProviderKind, keys: KeyRing): string | null {
  const url = base_url ?? kind.defaultUrl;
  // The maker's own address always needs its key; an address of one's own needs one only if the definition says so.
  const name = api_key_env ?? (base_url === null ? kind.defaultKeyEnv : null);
  return name === null || url === null ? null : keys.read(name, url);
}
