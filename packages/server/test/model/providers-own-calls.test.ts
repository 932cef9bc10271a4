import { HumanMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, expect, test } from "vitest";
import { anthropic } from "./anthropic-server.ts";
import { modelOf, PROTOCOLS, type Protocol, provider, registry } from "./providers.ts";
import { openScriptedServer, type ScriptedServer } from "./scripted-server.ts";

const [, overAnthropic] = PROTOCOLS as readonly [Protocol, Protocol];
let server: ScriptedServer;
beforeEach(async () => {
  server = await openScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

test("a call that the provider runs itself is nobody's here, and is sent back as it was", async () => {
  const own = { type: "server_tool_use", id: "own_1", name: "web_search" };
  const [, ...input] = anthropic.toolBlock(0, "", "", '{"query"', ':"x"}');
  server.script(
    anthropic.stream(
      anthropic.start(),
      anthropic.block(0, { ...own, input: {} }),
      ...input,
      ...anthropic.toolBlock(1, "toolu_1", "ls", '{"path":', '"/"}'),
      ...anthropic.end(9, "tool_use"),
    ),
    anthropic.says("ok"),
  );
  const chat = await modelOf(registry([provider(overAnthropic, server.url)]));
  const search = { type: "web_search_20250305", name: "web_search" };
  const model = chat.bindTools?.([search]) ?? chat;
  const reply = await model.invoke("hi");
  expect(reply.tool_calls).toEqual([{ type: "tool_call", id: "toolu_1", name: "ls", args: { path: "/" } }]);
  expect(reply.response_metadata["cognition"]).not.toHaveProperty("unusable_calls");
  await model.invoke([new HumanMessage("hi"), reply, new HumanMessage("again")]);
  expect(server.requests.at(-1)?.body["messages"]).toContainEqual({
    role: "assistant",
    content: [
      { ...own, input: { query: "x" } },
      { type: "tool_use", id: "toolu_1", name: "ls", input: { path: "/" } },
    ],
  });
});
