import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Annotation, Command, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  steps: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

/** Messages, a subgraph that asks a human, and a step after it. */
export function questionGraph(checkpointer: BaseCheckpointSaver) {
  const asking = new StateGraph(State)
    .addNode("prepare", () => ({ steps: ["prepared"] }))
    .addNode("ask", () => ({ steps: [`answered ${interrupt("How many?")}`] }))
    .addEdge(START, "prepare")
    .addEdge("prepare", "ask")
    .compile();
  return new StateGraph(State)
    .addNode("greet", ({ messages }) => ({ messages: [new AIMessage(`hello ${messages.length}`)] }))
    .addNode("asking", asking)
    .addNode("finish", ({ steps }) => ({ messages: [new AIMessage(`done ${steps.at(-1)}`)] }))
    .addEdge(START, "greet")
    .addEdge("greet", "asking")
    .addEdge("asking", "finish")
    .addEdge("finish", END)
    .compile({ checkpointer });
}

export const threadConfig = (thread_id: string) => ({ configurable: { thread_id } });

/** Two threads: one that is finished and was branched from its middle, one that waits for an answer. */
export async function fillThreads(checkpointer: BaseCheckpointSaver): Promise<void> {
  const graph = questionGraph(checkpointer);
  const done = threadConfig("done");
  await graph.invoke({ messages: [new HumanMessage({ id: "h1", content: "one" })] }, done);
  await graph.invoke(new Command({ resume: 1 }), done);
  await graph.invoke({ messages: [new HumanMessage({ id: "h2", content: "two" })] }, done);
  await graph.invoke(new Command({ resume: 2 }), done);
  const states = [];
  for await (const state of graph.getStateHistory(done)) states.push(state);
  const middle = states.find(({ next }) => next[0] === "finish");
  await graph.updateState(middle?.config ?? done, { steps: ["branched"] }, "asking");
  await graph.invoke({ messages: [new HumanMessage({ id: "w1", content: "wait" })] }, threadConfig("waiting"));
}

export async function historyOf(checkpointer: BaseCheckpointSaver, thread_id: string) {
  const states = [];
  for await (const { values, next, config, parentConfig, metadata, tasks } of questionGraph(
    checkpointer,
  ).getStateHistory(threadConfig(thread_id))) {
    const { messages = [], steps } = values as { messages?: { content: unknown }[]; steps?: string[] };
    states.push({
      id: config.configurable?.["checkpoint_id"],
      parent: parentConfig?.configurable?.["checkpoint_id"],
      messages: messages.map(({ content }) => content),
      steps,
      next,
      step: metadata?.step,
      source: metadata?.source,
      interrupts: tasks.flatMap(({ interrupts }) => interrupts ?? []),
    });
  }
  return states;
}
