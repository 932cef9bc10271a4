import { existsSync } from "node:fs";
import { join } from "node:path";
import { openStorage, type Storage, type ToolCallIntent } from "@cognition/thread";
import type { AIMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

const EDITOR = "---\ndescription: Edits\nmode: subagent\n---\nYou do what you are told.\n";

/** Whether any stored checkpoint of the thread has the call, as another process would find it. */
async function isStored(storage: Storage, { thread_id, tool_call_id }: ToolCallIntent): Promise<boolean> {
  const saver = await storage.getCheckpointer();
  for await (const { checkpoint } of saver.list({ configurable: { thread_id } })) {
    const { messages = [] } = checkpoint.channel_values as { messages?: AIMessage[] };
    if (messages.some(({ tool_calls = [] }) => tool_calls.some(({ id }) => id === tool_call_id))) return true;
  }
  return false;
}

it.each([
  ["of the session's own agent", "Create a file named a.txt containing exactly the word yes"],
  ["of a subagent", "Delegate to editor: Create a file named a.txt containing exactly the word yes"],
])("a call %s is in a stored checkpoint when its intent is recorded, before it begins", async (_whose, content) => {
  const storage = await openStorage("memory");
  const found: [string, boolean][] = [];
  const watched: Storage = {
    ...storage,
    beginToolCall: async (intent) => {
      const state = await storage.beginToolCall(intent);
      found.push([intent.name, await isStored(storage, intent)]);
      return state;
    },
  };
  const started = await startRuntime({ storage: watched, files: { ".cognition/agents/editor.md": EDITOR } });
  expect(dataOf(await say(started, content), "done")).toMatchObject([{ status: "succeeded" }]);
  expect(found).toEqual([["write_file", true]]);
});

it("a run that is aborted while the intent is recorded begins nothing, and knows it", async () => {
  const storage = await openStorage("memory");
  const watched: Storage = {
    ...storage,
    beginToolCall: async (intent) => {
      const state = await storage.beginToolCall(intent);
      await started.runtime.engine.abort(started.session.id);
      return state;
    },
  };
  const started = await startRuntime({ storage: watched });
  const events = await say(started, "Create a file named a.txt containing exactly the word yes");
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
  expect(existsSync(join(started.folder, "a.txt"))).toBe(false);
  expect(await storage.listToolCalls(events[0]?.run_id ?? "")).toEqual([]);
  const messages = await storage.listMessagesForSession(started.session.id);
  expect(messages.find(({ role }) => role === "tool")).toMatchObject({
    content: expect.stringContaining("It was not started"),
  });
});
