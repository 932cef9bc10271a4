import {
  AppError,
  type CircuitBreaker as CircuitBreakerState,
  type CreateProvider,
  isAppError,
  type Model,
  type Provider,
  type ProviderTest,
  type Scope,
  type UpdateProvider,
} from "@cognition/contract";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BreakerSettings } from "../breaker/circuit-breaker.ts";
import { patientFetch } from "../outgoing/patient-fetch.ts";
import { builtinProviders, type OfflineMode } from "./builtin-providers.ts";
import type { CallDependencies } from "./call-sources.ts";
import { type Clock, systemClock } from "./clock.ts";
import { createModel, type ModelDependencies } from "./create-model.ts";
import { joinProviders } from "./join-providers.ts";
import { createKeyRing, type Environment, type KeyHosts, type KeyRing } from "./key-ring.ts";
import { listModels } from "./list-models.ts";
import { createMemoryProviderStore } from "./memory-provider-store.ts";
import { createProviderBreakers, type ProviderBreakersOptions } from "./provider-breakers.ts";
import { checkProvider } from "./provider-check.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import { type ProviderStore, providerKey } from "./provider-store.ts";
import type { RetrySettings } from "./retry-policy.ts";
import { visibleProviders } from "./scope-order.ts";
import { type ModelChoice, type ModelRequest, type ModelSelection, selectModel } from "./select-model.ts";
import { testProvider } from "./test-provider.ts";
import type { Timeouts } from "./timeouts.ts";

export interface ModelRegistryOptions {
  readonly env: Environment;
  /** Definitions of the configuration file; refused at once where one can't work. */
  readonly providers?: readonly ProviderDefinition[];
  /** Hosts that a key may go to, besides its maker's own. */
  readonly keyHosts?: KeyHosts;
  /** What applies where neither message, session nor agent says anything. */
  readonly defaults?: ModelChoice;
  readonly fallback?: boolean;
  readonly offline?: OfflineMode;
  readonly store?: ProviderStore;
  readonly breaker?: Partial<BreakerSettings>;
  readonly sharedBreakers?: ProviderBreakersOptions["shared"];
  readonly retry?: Partial<RetrySettings>;
  readonly timeouts?: Partial<Timeouts>;
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly onCall?: CallDependencies["onCall"];
}

export interface ModelRegistry {
  /** Those that the scope sees, in the order in which they are tried. */
  list(scope?: Scope): Promise<Provider[]>;
  get(id: string, scope?: Scope): Promise<Provider>;
  create(provider: CreateProvider, scope?: Scope): Promise<Provider>;
  /** Changes only a provider made through the API, in exactly this scope. */
  update(id: string, patch: UpdateProvider, scope?: Scope): Promise<Provider>;
  remove(id: string, scope?: Scope): Promise<void>;
  test(id: string, scope?: Scope): Promise<ProviderTest>;
  models(scope?: Scope): Promise<Model[]>;
  /** See `selectModel` for the precedence. Throws before a run is accepted rather than in its middle. */
  select(request?: ModelRequest): Promise<ModelSelection>;
  /** Refuses a default that names no provider there is: every message that leaves the choice to it would fail. */
  checkDefaults(): Promise<void>;
  createModel(selection: ModelSelection): Promise<BaseChatModel>;
  /** By provider id, of those that the scope sees and that were called, here or where one was found failing. */
  circuitBreakers(scope?: Scope): Promise<Record<string, CircuitBreakerState>>;
}

export function createModelRegistry(options: ModelRegistryOptions): ModelRegistry {
  const { clock = systemClock, store = createMemoryProviderStore(), offline = "auto" } = options;
  const keys = createKeyRing({ env: options.env, ...(options.keyHosts && { hosts: options.keyHosts }) });
  const configured = checked(options.providers ?? [], keys);
  // Not by the time of day: put back by an hour, it would keep a breaker open for that long.
  const now = options.clock?.now ?? (() => performance.now());
  const breakers = createProviderBreakers({ now, settings: options.breaker, shared: options.sharedBreakers });

  const dependencies: ModelDependencies = {
    keys,
    clock,
    fetch: options.fetch ?? patientFetch,
    random: options.random ?? Math.random,
    retry: options.retry,
    timeouts: options.timeouts,
    onCall: options.onCall,
    breakerOf: breakers.of,
    beforeCall: breakers.look,
  };

  const all = async () => joinProviders(builtinProviders(keys), configured, await store.list(), offline);
  const visible = async (scope?: Scope) => visibleProviders(await all(), scope);
  const among = lookAmong(all, store);
  const toProvider = (provider: ProviderDefinition): Provider => ({
    ...provider,
    has_key: keys.has(provider.api_key_env),
  });
  const create = (selection: ModelSelection) => createModel(selection, dependencies);

  const find = (id: string, scope?: Scope) =>
    among((providers) => {
      const seen = visibleProviders(providers, scope);
      return seen.find((provider) => provider.id === id) ?? notFound(id, seen);
    });
  const save = async (provider: ProviderDefinition, seen: ProviderDefinition | null) => {
    checkProvider(provider, keys);
    if (!(await store.put(provider, seen))) return undefined;
    breakers.reset(provider);
    return toProvider(provider);
  };

  return {
    list: async (scope) => (await visible(scope)).map(toProvider),
    get: async (id, scope) => toProvider(await find(id, scope)),
    async create({ idempotency_key: _, ...fields }, scope = {}) {
      const provider: ProviderDefinition = { ...fields, scope, source: "api" };
      const taken = (await all()).some((other) => providerKey(other) === providerKey(provider));
      const saved = taken ? undefined : await save(provider, null);
      if (saved) return saved;
      throw new AppError("already_exists", `There is a provider "${fields.id}" already; choose another id.`);
    },
    async update(id, patch, scope = {}) {
      const seen = (await store.find(id, scope)) ?? writable(await find(id, scope), scope);
      const saved = await save({ ...seen, ...defined(patch) }, seen);
      if (saved) return saved;
      throw changedMeanwhile(id);
    },
    async remove(id, scope = {}) {
      if (!(await store.remove(id, scope))) writable(await find(id, scope), scope);
      breakers.reset({ id, scope });
    },
    async test(id, scope) {
      const provider = await find(id, scope);
      const alone = { ...provider, enabled: true, max_retries: 0 };
      return testProvider(provider.model, async () => create(selectModel([alone], { ...(scope && { scope }) })), clock);
    },
    models: async (scope) => listModels(await visible(scope)),
    select: (request = {}) => among((providers) => selectModel(providers, request, options)),
    checkDefaults: async () => checkDefault(options.defaults?.provider_id, await all()),
    createModel: create,
    async circuitBreakers(scope) {
      await breakers.look();
      const seen = (await visible(scope)).map((provider) => [provider.id, breakers.find(provider)] as const);
      return Object.fromEntries(seen.flatMap(([id, breaker]) => (breaker ? [[id, breaker.state()]] : [])));
    },
  };
}

type AmongProviders = <T>(look: (providers: readonly ProviderDefinition[]) => T) => Promise<T>;

/** Looks among all there are. What another node has made a moment ago is there, too: a run may have been accepted with it. */
function lookAmong(all: () => Promise<ProviderDefinition[]>, store: Pick<ProviderStore, "lookAgain">): AmongProviders {
  return async (look) => {
    try {
      return look(await all());
    } catch (error) {
      if (!isAppError(error, "unknown_provider", "no_provider_enabled", "provider_not_found")) throw error;
      store.lookAgain();
      return look(await all());
    }
  };
}

function checked(providers: readonly ProviderDefinition[], keys: KeyRing): readonly ProviderDefinition[] {
  const seen = new Set<string>();
  for (const provider of providers) {
    checkProvider(provider, keys);
    // Which of the two was meant, nobody could tell.
    if (seen.has(providerKey(provider))) {
      throw new AppError(
        "invalid_config",
        `There are two providers with the id "${provider.id}"; give one another id.`,
      );
    }
    seen.add(providerKey(provider));
  }
  return providers;
}

function checkDefault(id: string | null | undefined, providers: readonly ProviderDefinition[]): void {
  if (!id || providers.some((provider) => provider.id === id)) return;
  const there = providers.map((provider) => provider.id).join(", ") || "none";
  throw new AppError(
    "invalid_config",
    `models.default_provider names "${id}", and there is no such provider; there are: ${there}.`,
  );
}

function changedMeanwhile(id: string): AppError {
  const message = `The provider "${id}" was changed by another writer; nothing was stored. Read it and try again.`;
  return new AppError("version_conflict", message);
}

function writable(provider: ProviderDefinition, scope: Scope): ProviderDefinition {
  if (provider.source === "api" && providerKey(provider) === providerKey({ id: provider.id, scope })) return provider;
  throw new AppError(
    "not_writable",
    `The provider "${provider.id}" comes from ${provider.source === "api" ? "another scope" : "the server's configuration"} ` +
      "and can't be changed here. Make one of your own under another id.",
  );
}

function notFound(id: string, providers: readonly ProviderDefinition[]): never {
  const valid = providers.map((provider) => provider.id);
  throw new AppError("provider_not_found", `There is no provider "${id}"; there are: ${valid.join(", ") || "none"}.`, {
    details: { valid },
  });
}

function defined(patch: UpdateProvider): Partial<ProviderDefinition> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}
