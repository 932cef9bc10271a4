import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

type Hook = (log: string[]) => unknown;

/** A graph of two steps; each adds a line to the log, after its hook. */
export function twoSteps(checkpointer: BaseCheckpointSaver, hooks: { first?: Hook; second?: Hook } = {}) {
  return new StateGraph(Log)
    .addNode("first", async ({ log }) => {
      await hooks.first?.(log);
      return { log: [`${log.at(-1)} first`], last: { step: "first", of: log.length } };
    })
    .addNode("second", async ({ log }) => {
      await hooks.second?.(log);
      return { log: [`${log.at(-1)} second`], last: { step: "second", of: log.length } };
    })
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", END)
    .compile({ checkpointer });
}

export const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
  last: Annotation<{ step: string; of: number } | undefined>(),
  note: Annotation<{ text: string } | undefined>(),
});

/** What two steps leave in the log, for each input. */
export function logOf(...inputs: string[]): string[] {
  return inputs.flatMap((input) => [input, `${input} first`, `${input} first second`]);
}

export function threadConfig(thread_id: string, configurable: Record<string, unknown> = {}) {
  return { configurable: { thread_id, ...configurable } };
}
