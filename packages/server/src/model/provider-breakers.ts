import type { BreakerStore } from "@cognition/thread";
import { type BreakerSettings, type CircuitBreaker, createCircuitBreaker } from "../breaker/circuit-breaker.ts";
import { type Named, providerKey } from "./provider-store.ts";
import { createSharedBreakers } from "./shared-breakers.ts";

export interface ProviderBreakersOptions {
  readonly now: () => number;
  readonly settings?: Partial<BreakerSettings> | undefined;
  /** Where nodes tell each other; without it this process minds its own. */
  readonly shared?: { readonly store: BreakerStore; readonly onError: (error: unknown) => void } | undefined;
}

/** One breaker for each provider, made when it is first called. */
export interface ProviderBreakers {
  of(provider: Named): CircuitBreaker;
  find(provider: Named): CircuitBreaker | undefined;
  /** A provider that was set right must not stay shut out for what it did before. */
  reset(provider: Named): void;
  /** Takes over what other nodes have found out, at most a second old. */
  look(): Promise<void>;
}

export function createProviderBreakers({ now, settings, shared }: ProviderBreakersOptions): ProviderBreakers {
  const breakers = new Map<string, CircuitBreaker>();
  const others = shared && createSharedBreakers({ ...shared, breakerOf: of, now });

  function of({ id, scope }: Named): CircuitBreaker {
    const key = providerKey({ id, scope });
    const breaker =
      breakers.get(key) ??
      createCircuitBreaker({
        ...{ name: id, explain: explain(id), now },
        ...(settings && { settings }),
        onChange: (change) => others?.tell({ id, scope }, change),
      });
    breakers.set(key, breaker);
    return breaker;
  }

  return {
    of,
    find: (provider) => breakers.get(providerKey(provider)),
    reset: (provider) => {
      breakers.delete(providerKey(provider));
      others?.tell(provider, { state: "closed" });
    },
    look: async () => others?.look(),
  };
}

function explain(provider_id: string) {
  return (failures: number, when: string) =>
    `The model provider ${provider_id} failed ${failures} times in a row and is not being called for a while. ` +
    `The conversation is kept; it can go on ${when}, or with another provider.`;
}
