import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { z } from "zod";
import { journalTool } from "../../src/runtime/journal-tool.ts";
import { answer, dataOf, eventsOf, say, startRuntime } from "./started-runtime.ts";

const RETRY = { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false };

function countingCharge() {
  const charged: number[] = [];
  const charge = journalTool(
    tool(({ cents }) => `charged ${charged.push(cents)}`, {
      name: "charge",
      description: "Charges the card",
      schema: z.object({ cents: z.number() }),
    }),
  );
  return { charged, charge };
}

it("a node that is tried again by its retry policy has the results that its calls had", async () => {
  const { charged, charge } = countingCharge();
  let tries = 0;
  const pay = async () => {
    const results = [await charge.invoke({ cents: 1 }), await charge.invoke({ cents: 1 })];
    if (++tries < 3) throw new Error("the shop is closed");
    return { messages: [new AIMessage(results.join(", "))] };
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("pay", pay, { retryPolicy: RETRY })
    .addEdge(START, "pay")
    .compile();
  const events = await say(await startRuntime({ graphs: { own: graph }, session: { agent_name: "own" } }), "pay");
  expect(dataOf(events, "done")).toMatchObject([
    { status: "succeeded", assistant_data: { content: "charged 1, charged 2" } },
  ]);
  expect(tries).toBe(3);
  expect(charged).toEqual([1, 1]);
});

it("a call that has thrown is made again by the retry policy, and what worked before it is not", async () => {
  const { charged, charge } = countingCharge();
  let asked = 0;
  const deliver = journalTool(
    tool(
      () => {
        if (++asked < 3) throw new Error("nobody is at home");
        return "delivered";
      },
      { name: "deliver", description: "Delivers", schema: z.object({}) },
    ),
  );
  const pay = async () => {
    await charge.invoke({ cents: 1 });
    return { messages: [new AIMessage(String(await deliver.invoke({})))] };
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("pay", pay, { retryPolicy: RETRY })
    .addEdge(START, "pay")
    .compile();
  const events = await say(await startRuntime({ graphs: { own: graph }, session: { agent_name: "own" } }), "pay");
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded", assistant_data: { content: "delivered" } }]);
  expect([charged, asked]).toEqual([[1], 3]);
});

/** A tool that fails the first time, in a graph of one node. */
function failingOnce(node: (deliver: (args: Record<string, never>) => Promise<unknown>) => Promise<string>) {
  const asked: unknown[] = [];
  const deliver = journalTool(
    tool(
      (args) => {
        if (asked.push(args) === 1) throw new Error("nobody is at home");
        return "delivered";
      },
      { name: "deliver", description: "Delivers", schema: z.object({}) },
    ),
  );
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("post", async () => ({ messages: [new AIMessage(await node((args) => deliver.invoke(args)))] }))
    .addEdge(START, "post")
    .compile();
  return { asked, deliver, graph };
}

it("a run that failed of what a tool threw calls it again when it is resumed: the error is no result", async () => {
  const { asked, graph } = failingOnce(async (deliver) => String(await deliver({})));
  const started = await startRuntime({ graphs: { own: graph }, session: { agent_name: "own" } });
  expect(dataOf(await say(started, "post"), "done")).toMatchObject([{ status: "failed" }]);
  const { run } = await started.runtime.engine.submit({ session_id: started.session.id, input: { kind: "continue" } });
  const events = await eventsOf(started, run.id);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded", assistant_data: { content: "delivered" } }]);
  expect(asked).toHaveLength(2);
});

it("a node that dealt with what a tool threw, and then asks, sees it thrown again after the answer", async () => {
  const { asked, graph } = failingOnce(async (deliver) => {
    const failed = await deliver({}).then(String, (error: Error) => `failed: ${error.message}`);
    return `${failed}, ${interrupt("Leave it with a neighbour?")}`;
  });
  const started = await startRuntime({ graphs: { own: graph }, session: { agent_name: "own" } });
  const events = await answer(started, await say(started, "post"), { type: "respond", value: "yes" });
  expect(dataOf(events, "done")).toMatchObject([{ assistant_data: { content: "failed: nobody is at home, yes" } }]);
  expect(asked).toHaveLength(1);
});

it("a call of a model's that has thrown is told where its node runs again: it has an id, and is made once", async () => {
  const { asked, deliver } = failingOnce(async () => "");
  const call = { type: "tool_call" as const, id: "c1", name: "deliver", args: {} };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("ask", () => ({ messages: [new AIMessage({ content: "", tool_calls: [call] })] }))
    .addNode("tools", async () => ({ messages: [await deliver.invoke(call)] }), { retryPolicy: RETRY })
    .addNode("tell", ({ messages }) => ({ messages: [new AIMessage(`told: ${messages.at(-1)?.text}`)] }))
    .addEdge(START, "ask")
    .addEdge("ask", "tools")
    .addEdge("tools", "tell")
    .compile();
  const events = await say(await startRuntime({ graphs: { own: graph }, session: { agent_name: "own" } }), "post");
  expect(dataOf(events, "done")).toMatchObject([
    { status: "succeeded", assistant_data: { content: "told: deliver failed: nobody is at home" } },
  ]);
  expect(asked).toHaveLength(1);
});
