import { CompiledStateGraph, START } from "@langchain/langgraph";
import type { Checkpoint } from "@langchain/langgraph-checkpoint";

/** Where LangGraph keeps the nodes that another one has sent for. */
const SENT = "__pregel_tasks";

/** LangGraph's compiled graph, as far as it matters here. */
interface StateGraph {
  nodes: Readonly<Record<string, { triggers: readonly string[] }>>;
  config?: { callbacks?: unknown };
}

/**
 * Tells of a checkpoint of the graph whether it need not be durable before the graph goes on, since none of the user's nodes
 * runs before the next one is written, or the run's end: that of an input, which LangGraph's own first node spreads over the
 * channels (and for which LangGraph does not wait either), and that of the last step. Undefined for a graph of which it can't
 * be told: one that is no state graph of our version of LangGraph, or has callbacks of its own, which hear of its end.
 */
export function passingCheckpoints(graph: unknown): ((checkpoint: Checkpoint) => boolean) | undefined {
  if (!(graph instanceof CompiledStateGraph)) return undefined;
  const { nodes, config } = graph as unknown as StateGraph;
  if (config?.callbacks) return undefined;
  const { [START]: _, ...ofUser } = nodes;
  const triggers = new Set([SENT, ...Object.values(ofUser).flatMap((node) => node.triggers)]);
  return ({ channel_values }) =>
    !Object.entries(channel_values).some(([channel, value]) => triggers.has(channel) && !isEmptyList(value));
}

/** As lists of nodes that are waited for, or were sent for, are mostly. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
