/** What one run is asked to do. The model answers at once, so what is measured is everything around it. */
export const WORKLOADS = {
  answer: "Hello, who are you?",
  tool: 'Use the look_up tool with topic="the weather in Paris"',
} as const;
export type Workload = keyof typeof WORKLOADS;

/** One way to run the default agent. */
export interface Side {
  /** Makes so many threads, which is not part of a run. */
  prepare(runs: number): Promise<void>;
  /** Takes one message to its end, on one of the threads; gives the milliseconds to the first token. */
  run(workload: Workload): Promise<number>;
  /** Commits that waited for the disk, so far. */
  commits(): number;
  close(): Promise<void>;
}

export const LOOK_UP = {
  name: "look_up",
  description: "Looks a topic up.",
  found: "It is sunny, 21 degrees.",
} as const;
