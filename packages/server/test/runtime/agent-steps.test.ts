import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createAgent, fakeModel } from "langchain";
import { expect, it, onTestFinished } from "vitest";
import { createPairedCalls, paired } from "../../src/runtime/paired-calls.ts";
import { closingResults } from "../../src/runtime/settle-thread.ts";
import { openai } from "../model/openai-server.ts";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

it("a run has a step for each model call and each tool call, and none besides", async () => {
  const { server, options } = await scriptedProvider(calls("call_1", "ls", { path: "/" }), says("Done"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const started = await startRuntime(options);
  const events = await say(started, "Go");
  // The input, what LangGraph makes of it, the call, its result, the answer.
  expect(dataOf(events, "checkpoint").map(({ step }) => step)).toEqual([-1, 0, 1, 2, 3]);
});

it("of several plans at once none is taken, and the model is told why", async () => {
  const plan = (id: string, index: number) => [
    openai.toolStart(index, id, "write_todos"),
    openai.toolArgs(index, JSON.stringify({ todos: [{ content: `Step of ${id}`, status: "pending" }] })),
  ];
  const two = openai.stream(
    openai.start,
    ...plan("one", 0),
    ...plan("two", 1),
    openai.finish("tool_calls"),
    openai.done,
  );
  const one = { todos: [{ content: "Step of three", status: "pending" }] };
  const { server, options } = await scriptedProvider(two, calls("three", "write_todos", one), says("Done"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const started = await startRuntime(options);
  const events = await say(started, "Plan");
  expect(dataOf(events, "tool_result")).toMatchObject([
    { tool_call_id: "one", outcome: "denied", output: expect.stringContaining("only once") },
    { tool_call_id: "two", outcome: "denied" },
    { tool_call_id: "three", outcome: "ok" },
  ]);
  expect(dataOf(events, "planning")).toHaveLength(1);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
});

it("a message too long for a model is kept whole, and shown to the model in part and as a file", async () => {
  const { server, options } = await scriptedProvider(calls("call_1", "ls", { path: "/" }), says("Done"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const started = await startRuntime(options);
  const long = Array.from({ length: 30_000 }, (_, n) => `line ${n}`).join("\n");
  await say(started, long);
  await say(started, "And now?");
  expect(server.requests).toHaveLength(3);
  const [file, ...others] = readdirSync(join(started.folder, "conversation_history"));
  expect(others).toEqual([]);
  expect(readFileSync(join(started.folder, "conversation_history", file ?? ""), "utf8")).toBe(long);
  for (const { body } of server.requests) {
    const text = JSON.stringify(body);
    expect(text).toContain(`/conversation_history/${file}`);
    expect(text.length).toBeLessThan(long.length / 2);
  }
  const { messages } = await started.storage.getMessagesBySession(started.session.id, { order: "asc", limit: 1 });
  expect(messages).toMatchObject([{ content: long }]);
});

function call(...ids: string[]): AIMessage {
  return new AIMessage({ id: ids.join(), content: "", tool_calls: ids.map((id) => ({ id, name: "look", args: {} })) });
}

function result(tool_call_id: string): ToolMessage {
  return new ToolMessage({ tool_call_id, name: "look", content: "seen" });
}

/** Calls by their ids, results by those of their calls, and whether something was made up. */
function shape(messages: readonly BaseMessage[] | undefined) {
  return messages?.map((one) => {
    if (ToolMessage.isInstance(one)) return `${one.status === "error" ? "closed" : "result"} ${one.tool_call_id}`;
    return one.id;
  });
}

const hello = new HumanMessage({ id: "hello", content: "Hello" });

it.each([
  { given: [], mended: undefined },
  { given: [hello, call("a", "b"), result("b"), result("a")], mended: undefined },
  { given: [call("a", "b"), hello], mended: ["a,b", "closed a", "closed b", "hello"] },
  { given: [call("a", "b"), result("b"), hello], mended: ["a,b", "closed a", "result b", "hello"] },
  { given: [result("gone"), hello], mended: ["hello"] },
  { given: [result("a"), call("a")], mended: ["a", "closed a"] },
  { given: [call("a", "b"), hello, result("a"), result("b")], mended: ["a,b", "result a", "result b", "hello"] },
  { given: [call("a", "b"), result("a"), hello, result("b")], mended: ["a,b", "result b", "result a", "hello"] },
  { given: [call("a"), hello, call("a"), result("a")], mended: ["a", "closed a", "hello", "a", "result a"] },
  { given: [call("a"), result("a"), call("a"), hello], mended: ["a", "result a", "a", "closed a", "hello"] },
])("calls and results in pairs: $mended", ({ given, mended }) => {
  expect(shape(paired(given))).toEqual(mended);
});

it("a run that was stopped closes a call whose id an earlier one had too", () => {
  const closing = closingResults([call("a"), result("a"), call("a", "b"), result("b")], []);
  expect(shape(closing)).toEqual(["closed a"]);
});

it("what the model was spared is mended in the thread too, with its answer", async () => {
  const model = fakeModel().respond(new AIMessage({ id: "answer", content: "Hi" }));
  const agent = createAgent({ model, tools: [], middleware: [createPairedCalls()] });
  const { messages } = await agent.invoke({ messages: [call("a"), hello, result("gone")] });
  expect(shape(model.calls[0]?.messages)).toEqual(["a", "closed a", "hello"]);
  expect(shape(messages)).toEqual(["a", "closed a", "hello", "answer"]);
});
