import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { dataOf, type Started, say, startRuntime } from "./started-runtime.ts";

/** What a provider checks: a call has its result right behind it. */
function refuseOpenCalls(messages: readonly BaseMessage[]): void {
  for (const [at, message] of messages.entries()) {
    if (!AIMessage.isInstance(message)) continue;
    for (const { id } of message.tool_calls ?? []) {
      const next = messages[at + 1];
      if (!ToolMessage.isInstance(next) || next.tool_call_id !== id) throw new Error(`call ${id} has no result`);
    }
  }
}

/** An agent of a user's own, as LangGraph's tutorials write it: nobody in it closes what another run has left open. */
function ownAgent() {
  return new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }) => {
      refuseOpenCalls(messages);
      const asked = messages.at(-1);
      if (asked?.text !== "Pay" && asked?.text !== "Buy") return { messages: [new AIMessage(`heard ${asked?.text}`)] };
      const call = { type: "tool_call" as const, id: `call-${messages.length}`, name: "charge", args: {} };
      return { messages: [new AIMessage({ content: "", tool_calls: [call] })] };
    })
    .addNode("tools", ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls ?? [];
      const result = messages.at(-2)?.text === "Pay" ? String(interrupt("May I?")) : "bought";
      return { messages: [new ToolMessage({ tool_call_id: call?.id ?? "", content: result })] };
    })
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : "__end__",
    )
    .addEdge("tools", "model")
    .compile();
}

const roles = async ({ storage, session }: Started) =>
  (await storage.listMessagesForSession(session.id)).map(({ role, content }) => `${role}: ${content}`);

it("a user's agent that was aborted while it asked takes the next message", async () => {
  const started = await startRuntime({ graphs: { own: ownAgent() }, session: { agent_name: "own" } });
  expect(dataOf(await say(started, "Pay"), "interrupt")).toHaveLength(1);
  await started.runtime.engine.abort(started.session.id);
  const events = await say(started, "Never mind");
  expect(dataOf(events, "done")).toMatchObject([
    { status: "succeeded", assistant_data: { content: "heard Never mind" } },
  ]);
  expect(await roles(started)).toEqual([
    "user: Pay",
    "assistant: ",
    expect.stringMatching(/^tool: charge: .*not started/),
    "user: Never mind",
    "assistant: heard Never mind",
  ]);
  expect(await started.storage.rebuildMessages(started.session.id)).toMatchObject({
    repaired: 0,
    added: 0,
    removed: 0,
  });
});

it("so does one that was rewound to before what its tool did", async () => {
  const started = await startRuntime({ graphs: { own: ownAgent() }, session: { agent_name: "own" } });
  expect(dataOf(await say(started, "Buy"), "done")).toMatchObject([{ assistant_data: { content: "heard bought" } }]);
  const to = { last: "tool" as const, restore: ["conversation" as const], force: false, dry_run: false };
  await started.runtime.timeline.rewind(started.session, to);
  const events = await say(started, "Never mind");
  expect(dataOf(events, "done")).toMatchObject([{ assistant_data: { content: "heard Never mind" } }]);
  expect(await roles(started)).toEqual([
    "user: Buy",
    "assistant: ",
    expect.stringMatching(/^tool: charge: /),
    "user: Never mind",
    "assistant: heard Never mind",
  ]);
});

it("one whose messages are those of its last input is given none that belong to others", async () => {
  const seen: string[][] = [];
  const State = Annotation.Root({ messages: Annotation<BaseMessage[]>() });
  const call = { type: "tool_call" as const, id: "c1", name: "charge", args: {} };
  const graph = new StateGraph(State)
    .addNode("model", ({ messages }) => {
      seen.push(messages.map((message) => message.text));
      return { messages: [...messages, new AIMessage({ content: "", tool_calls: [call] })] };
    })
    .addNode("tools", () => interrupt("May I?"))
    .addEdge(START, "model")
    .addEdge("model", "tools")
    .compile();
  const started = await startRuntime({ graphs: { own: graph }, session: { agent_name: "own" } });
  await say(started, "Pay");
  await started.runtime.engine.abort(started.session.id);
  await say(started, "Never mind");
  expect(seen).toEqual([["Pay"], ["Never mind"]]);
});
