import type { BaseMessage } from "@langchain/core/messages";

/** What the executor needs of a graph, ours or a user's own. */
export interface RunGraph {
  stream(input: unknown, config: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: { subgraphs: boolean }): Promise<GraphState>;
  updateState(config: object, values: object, asNode?: string): Promise<unknown>;
}

export interface GraphState {
  values: { messages?: BaseMessage[] };
  /** The nodes that would run now. */
  next: readonly string[];
  tasks: readonly {
    id?: string;
    name?: string;
    interrupts?: readonly { id?: string; value?: unknown }[];
    /** That of the subgraph that the task is, where it was asked for. */
    state?: GraphState;
  }[];
  metadata?: { run_id?: unknown; context?: unknown };
  config?: { configurable?: { checkpoint_id?: string; checkpoint_ns?: string } };
}

/** Before a thread's first checkpoint. */
export const NO_STATE: GraphState = { values: {}, next: [], tasks: [] };
