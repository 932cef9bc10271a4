import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  entrypoint,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver, Checkpoint } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { passingCheckpoints } from "../../src/runtime/passing-checkpoints.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  seen: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

/** Called by every node. */
type Look = (config: LangGraphRunnableConfig) => Promise<void>;

interface Example {
  /** Of each of its checkpoints, from the input's on, whether no code of the user's follows. */
  passes: readonly boolean[];
  build(look: Look): { invoke(input: object, config: object): Promise<unknown> };
}

const node = (look: Look, name: string) => async (_: unknown, config: LangGraphRunnableConfig) => {
  await look(config);
  return { seen: [name], messages: [new AIMessage(name)] };
};

const EXAMPLES: Record<string, Example> = {
  "two nodes": {
    passes: [true, false, false, true],
    build: (look) =>
      new StateGraph(State)
        .addNode("one", node(look, "one"))
        .addNode("two", node(look, "two"))
        .addEdge(START, "one")
        .addEdge("one", "two")
        .addEdge("two", END)
        .compile(),
  },
  // For what is chosen by the input alone LangGraph does not wait.
  "a function that chooses where it begins": {
    passes: [true, false, true],
    build: (look) =>
      new StateGraph(State)
        .addNode("one", node(look, "one"))
        .addConditionalEdges(START, () => "one")
        .compile(),
  },
  "a function that chooses where it ends": {
    passes: [true, false, true],
    build: (look) =>
      new StateGraph(State)
        .addNode("one", node(look, "one"))
        .addEdge(START, "one")
        .addConditionalEdges("one", async (_, config) => {
          await look(config);
          return END;
        })
        .compile(),
  },
  "nodes that are sent for": {
    passes: [true, false, false, true],
    build: (look) =>
      new StateGraph(State)
        .addNode("one", node(look, "one"))
        .addNode("each", node(look, "each"))
        .addEdge(START, "one")
        .addConditionalEdges("one", () => [new Send("each", {}), new Send("each", {})])
        .compile(),
  },
  "a node that waits for two others": {
    passes: [true, false, false, true],
    build: (look) =>
      new StateGraph(State)
        .addNode("left", node(look, "left"))
        .addNode("right", node(look, "right"))
        .addNode("both", node(look, "both"))
        .addEdge(START, "left")
        .addEdge(START, "right")
        .addEdge(["left", "right"], "both")
        .compile(),
  },
  // Its channel always holds something.
  "a node that is put off until all else is done": {
    passes: [false, false, false, false],
    build: (look) =>
      new StateGraph(State)
        .addNode("one", node(look, "one"))
        .addNode("last", node(look, "last"), { defer: true })
        .addEdge(START, "one")
        .addEdge("one", "last")
        .compile(),
  },
  "a subgraph": {
    passes: [true, false, true],
    build: (look) =>
      new StateGraph(State)
        .addNode(
          "inner",
          new StateGraph(State)
            .addNode("first", node(look, "first"))
            .addNode("second", node(look, "second"))
            .addEdge(START, "first")
            .addEdge("first", "second")
            .compile(),
        )
        .addEdge(START, "inner")
        .compile(),
  },
};

describe.each(Object.entries(EXAMPLES))("%s", (_, { passes, build }) => {
  it("passes the checkpoints that none of the user's code follows", async () => {
    const graph = build(async () => undefined) as ReturnType<Example["build"]> & { checkpointer: BaseCheckpointSaver };
    const told = passingCheckpoints(graph);
    const found: (boolean | undefined)[] = [];
    graph.checkpointer = new (class extends MemorySaver {
      override async put(...args: Parameters<MemorySaver["put"]>) {
        if (!args[0].configurable?.["checkpoint_ns"]) found.push(told?.(args[1] as Checkpoint));
        return super.put(...args);
      }
    })();
    await graph.invoke({ messages: [] }, { configurable: { thread_id: "t" }, durability: "sync" });
    expect(found).toEqual(passes);
  });

  it("as a run, runs the user's code only on what is stored", async () => {
    const looks: { at: unknown; stored: unknown }[] = [];
    let thread_id = "";
    const graph = build(async ({ metadata }) => {
      const saver = await started.storage.getCheckpointer();
      const ns = String(metadata?.["langgraph_checkpoint_ns"] ?? "");
      const checkpoint_ns = ns.includes("|") ? ns.slice(0, ns.lastIndexOf("|")) : "";
      const tuple = await saver.getTuple({ configurable: { thread_id, checkpoint_ns } });
      looks.push({ at: Number(metadata?.["langgraph_step"]) - 1, stored: tuple?.metadata?.step });
    });
    const started = await startRuntime({ graphs: { mine: graph }, session: { agent_name: "mine" } });
    ({ thread_id } = started.session);
    expect(dataOf(await say(started, "Go"), "done")).toMatchObject([{ status: "succeeded" }]);
    expect(looks.length).toBeGreaterThan(0);
    expect(looks.filter(({ at, stored }) => at !== stored)).toEqual([]);
    // A second message goes through another input.
    expect(dataOf(await say(started, "Again"), "done")).toMatchObject([{ status: "succeeded" }]);
    expect(looks.filter(({ at, stored }) => at !== stored)).toEqual([]);
    expect(started.errors).toEqual([]);
  });
});

it("can't be told of a graph with callbacks of its own, nor of what is no state graph", () => {
  const plain = EXAMPLES["two nodes"]?.build(async () => undefined) as unknown as { withConfig(c: object): object };
  expect(passingCheckpoints(plain.withConfig({}))).toBeTypeOf("function");
  expect(passingCheckpoints(plain.withConfig({ callbacks: [{ handleChainEnd: () => undefined }] }))).toBeUndefined();
  expect(passingCheckpoints(entrypoint("one", async () => "done"))).toBeUndefined();
  expect(passingCheckpoints({ nodes: {} })).toBeUndefined();
});
