import { createSqlSessionStore } from "../../src/chat/sql-session-store.ts";
import { openStorage } from "../../src/open-storage.ts";
import type { Failpoint } from "../../src/sql/database.ts";
import { createTasks } from "../../src/task/tasks.ts";
import { input, say } from "./parent.ts";

/** Does one write and is killed at the given point of it, as a power cut would. */
const { uri, what, point, sql, alone } = input<{
  uri: string;
  what: string;
  point: string;
  sql?: string;
  alone?: boolean;
}>();
let armed = false;
const failpoint: Failpoint = (reached, statement = "") => {
  const here = reached === point && (sql === undefined || statement.includes(sql));
  if (armed && here) process.kill(process.pid, "SIGKILL");
};

if (what === "chat") {
  const store = createSqlSessionStore({ uri, failpoint });
  await store.setup();
  const chat = await store.load("u", "c");
  armed = true;
  const messages = [{ role: "assistant", content: "killed" }] as const;
  if (chat) await store.update(chat, { message_count_delta: 1, cost: 1, messages });
} else {
  const tasks = createTasks(await openStorage({ uri, failpoint }));
  const state = await tasks.continueTask({ task_id: what });
  armed = true;
  void tasks.addMessage(state, "user", "killed");
  if (!alone) void tasks.addGoal(state, "killed");
  if (point === "commit" || sql?.includes("task_workspaces")) await tasks.completeTask(state);
  await tasks.flush(state);
}
say("not killed");
process.exit();
