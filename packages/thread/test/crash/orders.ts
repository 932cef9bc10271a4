import type { KillPlan } from "./failpoint.ts";

/** On a writer's command line. */
export interface WriterInput {
  uri: string;
  ledger: string;
}

/** On its standard input, once it is ready. */
export interface Order {
  /** Every step once and one at a time, telling which points were passed; then the end. */
  record?: boolean;
  /** How many steps go on at once. */
  lanes: number;
  /** Steps of each lane; then the end. Without it, on and on. */
  rounds?: number;
  lease_ms: number;
  seed: number;
  /** Runs that an earlier writer left behind: they are brought to their end before anything else. */
  open: string[];
  session?: { session_id: string; thread_id: string };
  plan?: KillPlan;
  /** Error codes that end a step and not the writer. */
  tolerate?: string[];
}

/** Where a recording passed. */
export interface Passed {
  step: string;
  method: string;
  point: string;
  /** It was always the first statement of its call: nothing had been written yet. */
  first: boolean;
}

export interface Recording {
  passed: Passed[];
  methods: string[];
}

export type Said = "ready" | Recording | { finished: true };
