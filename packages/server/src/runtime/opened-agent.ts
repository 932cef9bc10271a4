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
  usageOf(message: AIMessage): CallUsage | undefined;
}
