import { type BreakerSettings, type CircuitBreaker, createCircuitBreaker } from "../breaker/circuit-breaker.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import { providerKey } from "./provider-store.ts";

type Named = Pick<ProviderDefinition, "id" | "scope">;

/** One breaker for each provider, made when it is first called. */
export interface ProviderBreakers {
  of(provider: Named): CircuitBreaker;
  find(provider: Named): CircuitBreaker | undefined;
  /** A provider that was set right must not stay shut out for what it did before. */
  reset(provider: Named): void;
}

export function createProviderBreakers(
  now: () => number,
  settings: Partial<BreakerSettings> | undefined,
): ProviderBreakers {
  const breakers = new Map<string, CircuitBreaker>();
  return {
    of(provider) {
      const key = providerKey(provider);
      const breaker =
        breakers.get(key) ??
        createCircuitBreaker({ name: provider.id, explain: explain(provider.id), now, ...(settings && { settings }) });
      breakers.set(key, breaker);
      return breaker;
    },
    find: (provider) => breakers.get(providerKey(provider)),
    reset: (provider) => {
      breakers.delete(providerKey(provider));
    },
  };
}

function explain(provider_id: string) {
  return (failures: number, when: string) =>
    `The model provider ${provider_id} failed ${failures} times in a row and is not being called for a while. ` +
    `The conversation is kept; it can go on ${when}, or with another provider.`;
}
