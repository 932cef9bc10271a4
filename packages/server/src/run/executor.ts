import type { Interrupt, TokenUsage } from "@cognition/contract";
import type { ClaimedRun, WriterLease } from "@cognition/thread";
import type { RunLog } from "./run-log.ts";
import type { RunObserver } from "./run-observer.ts";

/** A run that this node has claimed, and what it may use. */
export interface RunWork {
  claimed: ClaimedRun;
  /** Goes into the graph's `configurable`, so that every checkpoint of the run is fenced. */
  lease: WriterLease;
  log: RunLog;
  observer?: RunObserver | undefined;
  /** Aborts when the user aborts, when the lease is lost, or when the node must stop at once. */
  signal: AbortSignal;
  /** Aborts when the node wants to hand the run over: stop at the next step, nothing is lost. */
  drain: AbortSignal;
}

export type RunResult =
  | { outcome: "succeeded"; usage: TokenUsage | null; structured_response?: unknown }
  | {
      outcome: "waiting";
      interrupts: Interrupt[];
      usage?: TokenUsage | null;
      /** Others of the same step have results, which are messages before the step's checkpoint is there. */
      finished_beside?: boolean;
    }
  | { outcome: "drained" };

/** What computes. The engine knows neither graphs nor models; the executor knows neither queues nor leases. */
export interface Executor {
  /** Works until the run's end, an approval or a drain. A throw is the run's failure; its code is kept. */
  execute(work: RunWork): Promise<RunResult>;
  /**
   * After an abort or a failure: keeps the text so far as the assistant's message and closes every tool call that has
   * no result, so that the thread takes the next message. Safe to repeat.
   */
  settle(work: RunWork): Promise<{ usage: TokenUsage | null }>;
}
