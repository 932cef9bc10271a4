import { AppError, type CircuitBreaker as CircuitBreakerState, type CircuitState } from "@cognition/contract";

export interface BreakerSettings {
  /** Consecutive failures that open it. */
  readonly failureThreshold: number;
  /** How long it stays open before trial calls are let through. */
  readonly openMs: number;
  /** Trial calls at once while half open: more would meet a service that has barely recovered. */
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

/** `ignored`: the call says nothing about the service's health (the caller's fault, or an abort). */
export type CallOutcome = "success" | "failure" | "ignored";

/** Reports the end of one call; only the first report counts. */
export type Settle = (outcome: CallOutcome) => void;

export interface CircuitBreaker {
  /** Lets a call through, or throws `circuit_open` without counting it. */
  acquire(): Settle;
  state(): CircuitBreakerState;
  /** Another node found the service failing: left alone here as well, for so long, with no call of our own. */
  openedElsewhere(open_ms: number, failures: number): void;
  /** Another node reached it again, or it was set right: tried here before its time is over. */
  closedElsewhere(): void;
}

export interface BreakerOptions {
  /** Of the service, for `details`. */
  readonly name: string;
  /** What a person is told: what is not being called, what was kept, and that it may go on `when`. */
  readonly explain: (failures: number, when: string) => string;
  readonly now: () => number;
  readonly settings?: Partial<BreakerSettings>;
  /** Told when calls of this process opened or closed it, never of what came from elsewhere. Must not throw. */
  readonly onChange?: ((change: BreakerChange) => void) | undefined;
}

export type BreakerChange =
  | { readonly state: "open"; readonly open_ms: number; readonly failures: number }
  | { readonly state: "closed" };

/** What is told twice of one opening differs by the time that the telling takes. */
const SAME_OPENING_MS = 1_000;

export function createCircuitBreaker({ name, explain, now, settings, onChange }: BreakerOptions): CircuitBreaker {
  const { failureThreshold, openMs, halfOpenCalls, successThreshold } = { ...DEFAULT_BREAKER, ...settings };
  const count = { total: 0, failed: 0, consecutive: 0, trials: 0, successes: 0 };
  let openUntil: number | undefined;
  let halfOpen = false;
  // A call that was let through before the state changed says nothing of the new one: neither is it a trial of it, nor may a
  // late success make an open breaker tell of no failures.
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

  const open = () => {
    enter({ openUntil: now() + openMs, halfOpen: false });
    onChange?.({ state: "open", open_ms: openMs, failures: count.consecutive });
  };

  const settleTrial = (outcome: CallOutcome) => {
    count.trials--;
    if (outcome === "failure") return open();
    if (outcome === "success" && ++count.successes >= successThreshold) {
      enter({ openUntil: undefined, halfOpen: false });
      onChange?.({ state: "closed" });
    }
  };

  const settle = (outcome: CallOutcome, begun: number) => {
    if (outcome === "failure") count.failed++;
    if (begun !== generation) return;
    if (outcome === "success") count.consecutive = 0;
    if (outcome === "failure") count.consecutive++;
    if (halfOpen) return settleTrial(outcome);
    if (outcome === "failure" && count.consecutive >= failureThreshold) open();
  };

  const circuitOpen = (retry_after_ms: number): AppError => {
    const when = retry_after_ms > 0 ? `in ${Math.ceil(retry_after_ms / 1000)} s` : "when a trial call has come back";
    const details = { service: name, retry_after_ms };
    return new AppError("circuit_open", explain(count.consecutive, when), { details });
  };

  return {
    acquire() {
      const state = current();
      if (state === "half_open" && !halfOpen) enter({ openUntil, halfOpen: true });
      if (state === "open" || (halfOpen && count.trials >= halfOpenCalls)) {
        throw circuitOpen(Math.max(0, (openUntil ?? 0) - now()));
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
    openedElsewhere(open_ms, failures) {
      const until = now() + open_ms;
      if (current() === "open" && until <= (openUntil ?? 0) + SAME_OPENING_MS) return;
      count.consecutive = Math.max(count.consecutive, failures);
      enter({ openUntil: until, halfOpen: false });
    },
    closedElsewhere() {
      if (current() === "open") enter({ openUntil: now(), halfOpen: true });
    },
    state: () => ({
      state: current(),
      total_calls: count.total,
      failed_calls: count.failed,
      consecutive_failures: count.consecutive,
    }),
  };
}
