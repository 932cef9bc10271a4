import { describe, expect, it } from "vitest";
import { createSqlSessionStore } from "../../src/chat/sql-session-store.ts";
import { openStorage } from "../../src/open-storage.ts";
import { createTasks } from "../../src/task/tasks.ts";
import { startChild } from "../child.ts";
import { databases } from "../databases.ts";

interface Kill {
  point: "statement" | "commit" | "committed";
  sql?: string;
  /** A message and nothing else: it is written in a way of its own. */
  alone?: boolean;
  /** Whether the write was acknowledged by the database before. */
  kept: boolean;
}

async function crash(input: object): Promise<void> {
  const child = startChild("crash-state", input);
  try {
    await expect(child.next()).rejects.toThrow("ended without an answer");
  } finally {
    await child.kill();
  }
}

describe.each(databases)("killed on $name", ({ create }) => {
  const chatKills: Kill[] = [
    { point: "statement", sql: "chat_messages", kept: false },
    { point: "commit", kept: false },
    { point: "committed", kept: true },
  ];
  it.each(chatKills)("a result's count and its log agree: $point $sql", async (kill) => {
    const database = await create();
    const store = createSqlSessionStore({ uri: database.uri });
    try {
      await store.setup();
      const now = new Date().toISOString();
      const chat = await store.create({
        ...{ session_id: "s", user_id: "u", chat_id: "c", working_directory: "/", claude_session_id: null },
        ...{ mode: "plan", total_cost: 0, message_count: 0, is_active: true, created_at: now, last_used: now },
      });
      await store.update(chat, { message_count_delta: 1, messages: [{ role: "assistant", content: "kept" }] });
      await crash({ uri: database.uri, what: "chat", ...kill });
      const count = kill.kept ? 2 : 1;
      expect(await store.load("u", "c")).toMatchObject({ message_count: count, total_cost: count - 1 });
      expect(await store.getMessages("u", "c")).toHaveLength(count);
    } finally {
      await store.teardown();
      await database.remove();
    }
  });

  const taskKills: Kill[] = [
    { point: "statement", sql: "insert into messages", alone: true, kept: false },
    { point: "statement", sql: 'update "sessions"', kept: false },
    { point: "statement", sql: 'delete from "task_workspaces"', kept: false },
    { point: "commit", kept: false },
    { point: "committed", kept: true },
  ];
  it.each(taskKills)("a task is as before or wholly changed: $point $sql", async (kill) => {
    const database = await create();
    const storage = await openStorage({ uri: database.uri });
    const tasks = createTasks(storage);
    try {
      const state = await tasks.startTask({ query: "q", user_id: "alice" });
      await tasks.addMessage(state, "user", "kept");
      const { task_id, conversation_id } = state;
      await crash({ uri: database.uri, what: task_id, ...kill });
      const again = await tasks.continueTask({ task_id, user_id: "alice" });
      const contents = kill.kept ? ["kept", "killed"] : ["kept"];
      expect(again.conversation.messages.map(({ content }) => content)).toEqual(contents);
      expect(await storage.getSession(conversation_id)).toMatchObject({ message_count: contents.length });
      expect(again.profile.goals).toEqual(kill.kept ? ["killed"] : []);
    } finally {
      await storage.close();
      await database.remove();
    }
  });
});
