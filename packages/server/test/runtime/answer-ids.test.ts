import { ChatAnthropic } from "@langchain/anthropic";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { anthropic } from "../model/anthropic-server.ts";
import { openai } from "../model/openai-server.ts";
import { type Answer, openScriptedServer } from "../model/scripted-server.ts";
import { dataOf, eventsOf, say, send, startRuntime } from "./started-runtime.ts";

const called = { name: "wait", id: "call_1" };
const MAKERS: [key: string, calls: Answer, says: Answer][] = [
  [
    "OPENAI_API_KEY",
    openai.stream(
      openai.start,
      openai.text("I wait."),
      openai.toolStart(0, called.id, called.name),
      openai.toolArgs(0, "{}"),
      openai.finish("tool_calls"),
      openai.done,
    ),
    openai.says("Hello ", "again"),
  ],
  [
    "ANTHROPIC_API_KEY",
    anthropic.stream(
      anthropic.start(),
      ...anthropic.textBlock(0, "I wait."),
      ...anthropic.toolBlock(1, called.id, called.name, "{}"),
      ...anthropic.end(5, "tool_use"),
    ),
    anthropic.says("Hello ", "again"),
  ],
];

/** OpenAI and Anthropic themselves, whose addresses lead here. */
async function startAt(key: string, ...answers: Answer[]) {
  const server = await openScriptedServer();
  const send = globalThis.fetch;
  const moved = vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
    return send(String(input).replace(/^https:\/\/api\.(openai|anthropic)\.com/, server.url), init);
  });
  onTestFinished(async () => {
    moved.mockRestore();
    await server[Symbol.asyncDispose]();
  });
  server.script(...answers);
  const begun = Promise.withResolvers<void>();
  const wait = defineTool({
    ...{ name: called.name, description: "Waits", schema: z.object({}), on_crash: "never", effect: "read" },
    run: (_args, { signal }) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  }) as ToolDefinition;
  const env = { PATH: process.env["PATH"], [key]: "sk-test" };
  return { ...(await startRuntime({ env, tools: [wait] })), begun: begun.promise };
}

it.each(MAKERS)("an answer's words are told under the id that it has in the end (%s)", async (key, _calls, says) => {
  const events = await say(await startAt(key, says), "Go");
  const [done] = dataOf(events, "done");
  const ids = dataOf(events, "token").map(({ message_id }) => message_id);
  expect(ids).toEqual([done?.["message_id"], done?.["message_id"]]);
});

it("so they are in a user's own graph, whose model gives its provider's ids", async () => {
  const server = await openScriptedServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  server.script(anthropic.says("Hello ", "again"));
  const model = new ChatAnthropic({ model: "claude-haiku-4-5", apiKey: "none", anthropicApiUrl: server.url });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", async ({ messages }) => ({ messages: await model.invoke(messages) }))
    .addEdge(START, "answer")
    .compile();
  const events = await say(await startRuntime({ graphs: { graph }, session: { agent_name: "graph" } }), "Go");
  const [done] = dataOf(events, "done");
  expect(done?.["message_id"]).toBe("msg_1");
  expect(dataOf(events, "token").map(({ message_id }) => message_id)).toEqual(["msg_1", "msg_1"]);
});

it.each(MAKERS)("what a model said before a tool is there once when that is aborted (%s)", async (key, calls, says) => {
  const started = await startAt(key, calls, says);
  const run = await send(started, "Go");
  await started.begun;
  await started.runtime.engine.abort(started.session.id);
  await eventsOf(started, run);
  const messages = await started.storage.listMessagesForSession(started.session.id);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});
