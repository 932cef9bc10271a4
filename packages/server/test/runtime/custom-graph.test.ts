import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  END,
  entrypoint,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  NodeInterrupt,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createAgent, fakeModel } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { answer, dataOf, interruptsIn, say, startRuntime } from "./started-runtime.ts";

const Order = Annotation.Root({
  ...MessagesAnnotation.spec,
  items: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  price: Annotation<number>(),
});
type Order = typeof Order.State;

/** Everything at once: input besides messages, context, its stream, a question, a subgraph, the store. */
function orderGraph() {
  const packing = new StateGraph(Order)
    .addNode("pack", ({ items }, config: LangGraphRunnableConfig) => {
      config.writer?.({ packed: items.length });
      return { items: ["paper"] };
    })
    .addEdge(START, "pack")
    .addEdge("pack", END)
    .compile();
  return new StateGraph(Order, z.object({ currency: z.string() }))
    .addNode("quote", ({ items }, runtime) => ({
      price: items.length,
      messages: [new AIMessage({ id: "p", content: `In ${runtime.context?.currency}` })],
    }))
    .addNode("ask", () => ({ items: [String(interrupt({ question: "How many more?" }))] }))
    .addNode("pack", packing)
    .addNode("remember", async ({ items }, runtime) => {
      await runtime.store?.put(["orders"], "last", { items });
      return {};
    })
    .addEdge(START, "quote")
    .addEdge("quote", "ask")
    .addEdge("ask", "pack")
    .addEdge("pack", "remember")
    .addEdge("remember", END)
    .compile({ description: "Takes orders." });
}

const startGraph = (graph: object, scopes = {}) =>
  startRuntime({ graphs: { orders: graph }, session: { agent_name: "orders", scopes } });

describe("a user's own graph", () => {
  it("is an agent among the others", async () => {
    const { runtime } = await startGraph(orderGraph());
    expect(await runtime.agents.get("orders")).toMatchObject({
      description: "Takes orders.",
      source: "graph",
      mode: "primary",
    });
  });

  it("gives what it would give without us, through a question, a subgraph and its context", async () => {
    const started = await startGraph(orderGraph(), { tenant: "a" });
    const input = { items: ["tea", "milk"] };
    const context = { currency: "EUR" };
    const asked = await say(started, "An order", { input, context });
    expect(interruptsIn(asked)).toMatchObject([
      { value: { question: "How many more?" }, allowed_decisions: ["respond"] },
    ]);
    expect(await started.storage.getSession(started.session.id)).toMatchObject({ status: "waiting_for_approval" });
    const done = await answer(started, asked, { type: "respond", value: 3 });

    const bare = orderGraph();
    bare.checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "bare" }, context };
    await bare.invoke({ ...input, messages: [new HumanMessage("An order")] }, config);
    const expected = (await bare.invoke(new Command({ resume: 3 }), config)) as Order;

    const [end] = dataOf(done, "done");
    expect(end).toMatchObject({ status: "succeeded", structured_response: { items: expected.items, price: 2 } });
    expect(expected.items).toEqual(["tea", "milk", "3", "tea", "milk", "3", "paper"]);
    expect(dataOf(done, "custom")).toMatchObject([{ packed: 3 }]);
    const saver = await started.storage.getCheckpointer();
    const head = await saver.getTuple({ configurable: { thread_id: started.session.thread_id } });
    const { messages, ...values } = (head as NonNullable<typeof head>).checkpoint.channel_values as Order;
    expect(values).toMatchObject({ items: expected.items, price: expected.price });
    expect(messages.map(({ content }) => content)).toEqual(expected.messages.map(({ content }) => content));
    const rows = await started.storage.listMessagesForSession(started.session.id);
    expect(rows.map(({ role, content }) => [role, content])).toEqual([
      ["user", "An order"],
      ["assistant", "In EUR"],
    ]);
  });

  it("may ask what looks like a question of ours, and gets the bare answer", async () => {
    const graph = new StateGraph(Order)
      .addNode("ask", () => ({ items: [String(interrupt({ kind: "tool_approval", question: "Send it?" }))] }))
      .addEdge(START, "ask")
      .addEdge("ask", END)
      .compile();
    const started = await startGraph(graph);
    const asked = await say(started, "An order");
    expect(interruptsIn(asked)).toMatchObject([
      { value: { kind: "tool_approval", question: "Send it?" }, allowed_decisions: ["respond"] },
    ]);
    const done = await answer(started, asked, { type: "respond", value: "yes" });
    expect(dataOf(done, "done")).toMatchObject([{ status: "succeeded", structured_response: { items: ["yes"] } }]);
  });

  it("has a store that is confined to the session's scope", async () => {
    const started = await startGraph(orderGraph(), { tenant: "a" });
    const asked = await say(started, "An order", { context: { currency: "EUR" } });
    const done = await answer(started, asked, { type: "respond", value: "x" });
    expect(dataOf(done, "done")).toMatchObject([{ status: "succeeded" }]);
    const own = await started.storage.getStore({ tenant: "a" });
    expect((await own.get(["orders"], "last"))?.value).toMatchObject({ items: ["x", "x", "paper"] });
    expect(await (await started.storage.getStore({ tenant: "b" })).get(["orders"], "last")).toBeNull();
  });

  it("remembers its thread from message to message", async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("count", ({ messages }) => ({ messages: [new AIMessage(`message ${messages.length}`)] }))
      .addEdge(START, "count")
      .compile();
    const started = await startGraph(graph);
    await say(started, "one");
    const [done] = dataOf(await say(started, "two"), "done");
    expect(done).toMatchObject({ assistant_data: { content: "message 3" } });
    expect(done).not.toHaveProperty("structured_response");
  });

  it("stops where it was compiled to stop, and goes on when it is let", async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("work", () => ({ messages: [new AIMessage("done")] }))
      .addEdge(START, "work")
      .compile({ interruptBefore: ["work"] });
    const started = await startGraph(graph);
    const asked = await say(started, "go");
    expect(interruptsIn(asked)).toMatchObject([{ value: { next: ["work"] }, allowed_decisions: ["approve"] }]);
    expect(dataOf(await answer(started, asked, { type: "approve" }), "done")).toMatchObject([
      { assistant_data: { content: "done" } },
    ]);
  });

  it("whose nodes stop it by throwing, several at once, runs them again when it is let", async () => {
    const Looks = Annotation.Root({ looks: Annotation<string[]>({ reducer: (a, b) => [...a, ...b] }) });
    const begun = new Map<string, number>();
    const look = (name: string) => () => {
      const times = (begun.get(name) ?? 0) + 1;
      begun.set(name, times);
      if (times <= 2) throw new NodeInterrupt(`${name} ${times}`);
      return { looks: [name] };
    };
    const graph = new StateGraph(Looks)
      .addNode("left", look("left"))
      .addNode("right", look("right"))
      .addEdge(START, "left")
      .addEdge(START, "right")
      .compile();
    const started = await startGraph(graph);
    let asked = await say(started, "go", { input: { looks: [] } });
    for (const time of [1, 2]) {
      const questions = interruptsIn(asked);
      expect(questions).toMatchObject([
        { value: `left ${time}`, allowed_decisions: ["approve"] },
        { value: `right ${time}`, allowed_decisions: ["approve"] },
      ]);
      expect(new Set(questions.map(({ id }) => id)).size).toBe(2);
      asked = await answer(started, asked, { type: "approve" });
    }
    expect(dataOf(asked, "done")).toMatchObject([
      { status: "succeeded", structured_response: { looks: ["left", "right"] } },
    ]);
  });

  it("may be of the functional API, or an agent of createAgent with tools of its own", async () => {
    const double = entrypoint("double", async (input: { n: number }) => input.n * 2);
    const functional = await startRuntime({ graphs: { double }, session: { agent_name: "double" } });
    expect(dataOf(await say(functional, "go", { input: { n: 4 } }), "done")).toMatchObject([
      { structured_response: 8 },
    ]);

    const weather = tool(({ city }) => `rain in ${city}`, {
      name: "weather",
      description: "",
      schema: z.object({ city: z.string() }),
    });
    const call = new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "weather", args: { city: "Bonn" } }] });
    const agent = createAgent({
      model: fakeModel().respond(call).respond(new AIMessage("It rains")),
      tools: [weather],
    });
    const started = await startRuntime({ graphs: { agent }, session: { agent_name: "agent" } });
    const events = await say(started, "Weather?");
    expect(dataOf(events, "tool_call")).toMatchObject([{ id: "c1", name: "weather", args: { city: "Bonn" } }]);
    expect(dataOf(events, "tool_result")).toMatchObject([
      { tool_call_id: "c1", output: "rain in Bonn", outcome: "ok" },
    ]);
    expect(dataOf(events, "done")).toMatchObject([{ assistant_data: { content: "It rains" } }]);
  });

  it("says what went wrong, each of it, where several of its nodes fail at once", async () => {
    const fail = (what: string) => async () => {
      throw new Error(what);
    };
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("stock", fail("the stock can't be reached"))
      .addNode("bank", fail("the bank is closed"))
      .addEdge(START, "stock")
      .addEdge(START, "bank")
      .compile();
    const started = await startGraph(graph);
    const [error] = dataOf(await say(started, "go"), "error");
    expect(error).toMatchObject({ code: "agent_failed" });
    expect(String(error?.["message"]).split("; ").toSorted()).toEqual([
      "the bank is closed",
      "the stock can't be reached",
    ]);
  });

  it("says what it needs where a message alone tells it nothing", async () => {
    const State = Annotation.Root({ n: Annotation<number>() });
    const graph = new StateGraph(State)
      .addNode("a", ({ n }) => ({ n: n + 1 }))
      .addEdge(START, "a")
      .compile();
    const started = await startGraph(graph);
    const events = await say(started, "hello");
    expect(dataOf(events, "error")).toMatchObject([{ code: "validation_failed" }]);
    expect(String(dataOf(events, "error")[0]?.["message"])).toContain('"input", with n');
    expect(dataOf(await say(started, "hello", { input: { n: 1 } }), "done")).toMatchObject([
      { structured_response: { n: 2 } },
    ]);
  });

  it("can't be led to another thread or an earlier state by a caller's context", async () => {
    const seen: object[] = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("look", ({ messages }, { configurable }) => {
        seen.push({
          thread_id: configurable?.["thread_id"],
          user_id: configurable?.["user_id"],
          heard: messages.length,
        });
        return {};
      })
      .addEdge(START, "look")
      .compile();
    const started = await startGraph(graph);
    const [first] = dataOf(await say(started, "one"), "checkpoint").slice(-1);
    await say(started, "two");
    const context = { thread_id: "other", checkpoint_id: first?.["checkpoint_id"], __pregel_read: 1, user_id: "u" };
    expect(dataOf(await say(started, "three", { context }), "done")).toMatchObject([{ status: "succeeded" }]);
    expect(seen.at(-1)).toEqual({ thread_id: started.session.thread_id, user_id: "u", heard: 3 });
  });
});

describe("a graph that can't be used stops the start, by its name", () => {
  const refuse = (graphs: Record<string, string | object>, files = {}) =>
    expect(startRuntime({ graphs, files })).rejects;

  it("for a file that is not there, an export that is not, or one that is no graph", async () => {
    await refuse({ lost: "./gone.ts#graph" }).toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining("graph lost: ./gone.ts#graph can't be loaded"),
    });
    const files = { "graphs.ts": "export const other = 1;\n" };
    await refuse({ lost: "./graphs.ts#graph" }, files).toMatchObject({
      message: expect.stringContaining('has no export "graph"; it exports: other'),
    });
    await refuse({ lost: "./graphs.ts#other" }, files).toMatchObject({
      message: "the graph lost is not a compiled LangGraph graph but a number",
    });
    await refuse({ raw: new StateGraph(MessagesAnnotation) }).toMatchObject({
      message: expect.stringContaining("export graph.compile()"),
    });
    await refuse({ default: orderGraph() }).toMatchObject({ code: "invalid_config" });
  });
});
