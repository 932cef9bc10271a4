import type { AIMessage } from "@langchain/core/messages";
import type { CallUsage } from "../model/usage.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { AgentGraph } from "./agent-graph.ts";

/** An agent, ready to work for one session. */
export interface OpenedAgent {
  graph: AgentGraph;
  root_agent: string;
  sandbox: Sandbox;
  recursion_limit?: number;
  /**
   * Every effect of the graph passes the journal, which waits for the checkpoints before it. Then the steps need not:
   * they go on while their checkpoints are on their way to the disk.
   */
  pipelined?: boolean;
  usageOf(message: AIMessage): CallUsage | undefined;
}
