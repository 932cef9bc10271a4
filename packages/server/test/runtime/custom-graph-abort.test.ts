import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { END, type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OfflineModel } from "../../src/model/offline/offline-model.ts";
import { journalTool } from "../../src/runtime/journal-tool.ts";
import { dataOf, eventsOf, type Started, say, send, startRuntime } from "./started-runtime.ts";
import { wrongToolEvents } from "./tool-events.ts";

const startGraph = (graph: object) => startRuntime({ graphs: { own: graph }, session: { agent_name: "own" } });

async function countOf({ storage, session }: Started, type: "token" | "tool_call"): Promise<number> {
  return (await storage.readEvents({ session_id: session.id, types: [type] })).events.length;
}

describe("abort of a user's own graph", () => {
  it("stops its node, closes its open calls, and takes the next message", async () => {
    const stuck = tool(
      (_, { signal }: LangGraphRunnableConfig) =>
        new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
      { name: "stuck", description: "", schema: z.object({}) },
    );
    const call = new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "stuck", args: {} }] });
    const heard: BaseMessage[][] = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("model", ({ messages }) => {
        heard.push(messages);
        return { messages: [heard.length === 1 ? call : new AIMessage("fine")] };
      })
      .addNode("tools", new ToolNode([stuck]))
      .addEdge(START, "model")
      .addConditionalEdges("model", ({ messages }) =>
        (messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : END,
      )
      .addEdge("tools", "model")
      .compile();
    const started = await startGraph(graph);
    const run_id = await send(started, "go");
    await expect.poll(() => countOf(started, "tool_call")).toBe(1);
    await started.runtime.engine.abort(started.session.id);
    const events = await eventsOf(started, run_id);
    expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
    expect(wrongToolEvents(events)).toEqual([]);
    expect(dataOf(await say(started, "again"), "done")).toMatchObject([{ assistant_data: { content: "fine" } }]);
    expect(heard[1]?.map((message) => message.getType())).toEqual(["human", "ai", "tool", "human"]);
  });

  it("a tool that neither heeds the signal nor is in the journal is unknown, and not heard after the end", async () => {
    const begun = Promise.withResolvers<void>();
    const landing = Promise.withResolvers<string>();
    const launch = () => {
      begun.resolve();
      return landing.promise;
    };
    const stubborn = tool(launch, { name: "launch", description: "", schema: z.object({}) });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("work", async (_, { callbacks = [] }: LangGraphRunnableConfig) => {
        await stubborn.invoke({}, { callbacks, signal: new AbortController().signal });
        return {};
      })
      .addEdge(START, "work")
      .compile();
    const started = await startGraph(graph);
    const run_id = await send(started, "go");
    await begun.promise;
    await started.runtime.engine.abort(started.session.id);
    const events = await eventsOf(started, run_id);
    expect(wrongToolEvents(events)).toEqual([]);
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "unknown" }]);
    landing.resolve("launched");
    expect(dataOf(await say(started, "again"), "done")).toHaveLength(1);
    const { events: all } = await started.storage.readEvents({ session_id: started.session.id, run_id });
    expect(all.at(-1)).toMatchObject({ event: "done" });
    expect(started.errors).toEqual([]);
  });

  it("keeps what the model had said", async () => {
    const model = new OfflineModel({ wordDelayMs: 50 });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("speak", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, "speak")
      .compile();
    const started = await startGraph(graph);
    const run_id = await send(started, "Hello there");
    await expect.poll(() => countOf(started, "token")).toBeGreaterThan(2);
    await started.runtime.engine.abort(started.session.id);
    const events = await eventsOf(started, run_id);
    const said = dataOf(events, "token")
      .map(({ content }) => content)
      .join("");
    expect(dataOf(events, "done")).toMatchObject([{ status: "aborted", assistant_data: { content: said } }]);
    expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
  });

  it("leaves an answer that its node has heard to the end to that node: what becomes of it nobody else can know", async () => {
    const heard = Promise.withResolvers<void>();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("draft", async ({ messages }) => {
        await new OfflineModel().invoke(messages);
        heard.resolve();
        return new Promise<object>(() => undefined);
      })
      .addEdge(START, "draft")
      .compile();
    const started = await startGraph(graph);
    const run_id = await send(started, "Hello there");
    await heard.promise;
    await started.runtime.engine.abort(started.session.id);
    const events = await eventsOf(started, run_id);
    expect(dataOf(events, "done")).toMatchObject([{ status: "aborted", assistant_data: null }]);
    const messages = await started.storage.listMessagesForSession(started.session.id);
    expect(messages.map(({ role }) => role)).toEqual(["user"]);
  });

  it("a tool in the journal that does not heed the signal is unknown: LangChain lets go of it before it ends", async () => {
    const effects: string[] = [];
    const begun = Promise.withResolvers<void>();
    const landing = Promise.withResolvers<void>();
    const stubborn = tool(
      async () => {
        begun.resolve();
        await landing.promise;
        effects.push("landed");
        return "launched";
      },
      { name: "launch", description: "", schema: z.object({}) },
    );
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("work", async (_, config) => {
        await journalTool(stubborn).invoke({}, config);
        return {};
      })
      .addEdge(START, "work")
      .compile();
    const started = await startGraph(graph);
    const run_id = await send(started, "go");
    await begun.promise;
    expect(await started.storage.listToolCalls(run_id)).toMatchObject([{ status: "started" }]);
    await started.runtime.engine.abort(started.session.id);
    expect(dataOf(await eventsOf(started, run_id), "tool_result")).toMatchObject([{ outcome: "unknown" }]);
    landing.resolve();
    await expect.poll(() => effects).toEqual(["landed"]);
    expect(await started.storage.listToolCalls(run_id)).toMatchObject([{ status: "unknown" }]);
  });

  it.each([
    ["never", "outcome_unknown: charge was started", 1],
    ["ask", "outcome_unknown: charge was started", 1],
    ["retry", "charged", 2],
  ] as const)(
    "goes on with it after that; a call that was under way may be made again: %s",
    async (on_crash, told, times) => {
      let begun = 0;
      const charge = tool(
        async (_, { signal }: LangGraphRunnableConfig) => {
          begun += 1;
          if (begun === 1) await new Promise((_resolve, reject) => signal?.addEventListener("abort", reject));
          return "charged";
        },
        { name: "charge", description: "", schema: z.object({}) },
      );
      const graph = new StateGraph(MessagesAnnotation)
        .addNode("work", async (_, config) => ({
          messages: [new AIMessage(await journalTool(charge, { on_crash }).invoke({}, config))],
        }))
        .addEdge(START, "work")
        .compile();
      const started = await startGraph(graph);
      const run_id = await send(started, "go");
      await expect.poll(() => begun).toBe(1);
      await started.runtime.engine.abort(started.session.id);
      await eventsOf(started, run_id);
      const goOn = { session_id: started.session.id, input: { kind: "continue" }, resumes: run_id };
      const { run } = await started.runtime.engine.submit(goOn);
      const events = await eventsOf(started, run.id);
      const said = { content: expect.stringContaining(told) };
      expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded", assistant_data: said }]);
      expect(wrongToolEvents(events)).toEqual([]);
      expect(begun).toBe(times);
    },
  );
});
