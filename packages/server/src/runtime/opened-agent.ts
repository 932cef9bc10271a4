import type { SessionContext, WriterLease } from "@cognition/thread";
import type { AIMessage } from "@langchain/core/messages";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { CallUsage } from "../model/usage.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { CustomGraph } from "./custom-graph.ts";
import type { RunGraph } from "./run-graph.ts";

/** An agent, ready to work for one session. */
export interface OpenedAgent {
  graph: RunGraph;
  /** What the first input of a thread has besides what it is given. */
  initial?: object;
  root_agent: string;
  sandbox: Sandbox;
  context: SessionContext;
  /** What every call of the graph carries, besides what is the run's. */
  config: { recursionLimit?: number; store?: BaseStore };
  /**
   * Every effect of the graph passes the journal, which waits for the checkpoints before it. Then the steps need not:
   * they go on while their checkpoints are on their way to the disk. Of a user's own graph that goes for the checkpoints
   * that none of its code follows.
   */
  pipelined?: WriterLease["pipelined"];
  /** Set for a user's own graph, which has its own ideas of input, output and what its nodes are called. */
  custom?: CustomGraph;
  usageOf(message: AIMessage): CallUsage | undefined;
}
