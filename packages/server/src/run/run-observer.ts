import type { ClaimedRun, NewEvent } from "@cognition/thread";
import type { CallUsage } from "../model/usage.ts";

/** Who watches a run on this node: metrics and traces. Called where it is hot: quick, and never a throw. */
export interface RunObserver {
  /** Everything that goes into the run's log, as it is given to it. */
  event(event: NewEvent["event"], data: Record<string, unknown>): void;
  modelStarted(call_id: string, agent: string | undefined): void;
  modelEnded(call_id: string, end: { usage?: CallUsage | undefined; error?: unknown }): void;
  /** The run's messages were not what its checkpoint says, and were rebuilt. */
  repaired(): void;
  /** This node has done with the run: it ended, waits, or is another's. */
  closed(): void;
}

export type ObserveRun = (claimed: ClaimedRun) => RunObserver;

/** Several as one; undefined for none, so that nothing is called where nobody watches. */
export function joinObservers(all: readonly ObserveRun[]): ObserveRun | undefined {
  if (all.length <= 1) return all[0];
  return (claimed) => {
    const observers = all.map((observe) => observe(claimed));
    const each = (tell: (observer: RunObserver) => void) => {
      for (const observer of observers) tell(observer);
    };
    return {
      event: (event, data) => each((one) => one.event(event, data)),
      modelStarted: (id, agent) => each((one) => one.modelStarted(id, agent)),
      modelEnded: (id, end) => each((one) => one.modelEnded(id, end)),
      repaired: () => each((one) => one.repaired()),
      closed: () => each((one) => one.closed()),
    };
  };
}
