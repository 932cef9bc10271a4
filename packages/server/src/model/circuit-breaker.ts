import { AppError, type CircuitBreaker as CircuitBreakerState, type CircuitState } from "@cognition/contract";

export interface BreakerSettings {
  /** Consecutive failures that open it. */
  readonly failureThreshold: number;
  /** How long it stays open before trial calls are let through. */
  readonly openMs: number;
  /** Trial calls at once while half open: more would meet a provider that has barely recovered. */
  readonly halfOpenCalls: number;
  /** Successes while half open that close it. */
  readonly successThreshold: number;
}

const DEFAULT_BREAKER: BreakerSettings = {
  failureThreshold: 5,
  openMs: 60_000,
  halfOpenCalls: 3,
  successThreshold: 3,
};

/** `ignored`: the call says nothing about the provider's health (the caller's fault, or an abort). */
export type CallOutcome = "success" | "failure" | "ignored";

/** Reports the end of one call; only the first report counts. */
export type Settle = (outcome: CallOutcome) => void;

export interface CircuitBreaker {
  /** Lets a call through, or throws `circuit_open` without counting it. */
  acquire(): Settle;
  state(): CircuitBreakerState;
}

export interface BreakerOptions {
  readonly name: string;
  readonly now: () => number;
  readonly settings?: Partial<BreakerSettings>;
}

export function createCircuitBreaker({ name, now, settings }: BreakerOptions): CircuitBreaker {
  const { failureThreshold, openMs, halfOpenCalls, successThreshold } = { ...DEFAULT_BREAKER, ...settings };
  const count = { total: 0, failed: 0, consecutive: 0, trials: 0, successes: 0 };
  let openUntil: number | undefined;
  let halfOpen = false;
  // A call that was let through before the state changed must not be counted as a trial of the new state.
  let generation = 0;

  const current = (): CircuitState => {
    if (openUntil === undefined) return "closed";
    return halfOpen || now() >= openUntil ? "half_open" : "open";
  };

  const enter = (next: { openUntil: number | undefined; halfOpen: boolean }) => {
    ({ openUntil, halfOpen } = next);
    count.trials = 0;
    count.successes = 0;
    generation++;
  };

  const settleTrial = (outcome: CallOutcome) => {
    count.trials--;
    if (outcome === "failure") return enter({ openUntil: now() + openMs, halfOpen: false });
    if (outcome === "success" && ++count.successes >= successThreshold)
      enter({ openUntil: undefined, halfOpen: false });
  };

  const settle = (outcome: CallOutcome, begun: number) => {
    if (outcome === "success") count.consecutive = 0;
    if (outcome === "failure") {
      count.failed++;
      count.consecutive++;
    }
    if (begun !== generation) return;
    if (halfOpen) return settleTrial(outcome);
    if (outcome === "failure" && count.consecutive >= failureThreshold) {
      enter({ openUntil: now() + openMs, halfOpen: false });
    }
  };

  return {
    acquire() {
      const state = current();
      if (state === "half_open" && !halfOpen) enter({ openUntil, halfOpen: true });
      if (state === "open" || (halfOpen && count.trials >= halfOpenCalls)) {
        throw circuitOpen(name, Math.max(0, (openUntil ?? 0) - now()), count.consecutive);
      }
      count.total++;
      if (halfOpen) count.trials++;
      const begun = generation;
      let settled = false;
      return (outcome) => {
        if (settled) return;
        settled = true;
        settle(outcome, begun);
      };
    },
    state: () => ({
      state: current(),
      total_calls: count.total,
      failed_calls: count.failed,
      consecutive_failures: count.consecutive,
    }),
  };
}

function circuitOpen(name: string, retryAfterMs: number, failures: number): AppError {
  const when = retryAfterMs > 0 ? `in ${Math.ceil(retryAfterMs / 1000)} s` : "when a trial call has come back";
  return new AppError(
    "circuit_open",
    `The model provider ${name} failed ${failures} times in a row and is not being called for a while. ` +
      `The conversation is kept; it can go on ${when}, or with another provider.`,
    { details: { provider_id: name, retry_after_ms: retryAfterMs } },
  );
}
