import type { Chat } from "@cognition/contract";
import type { ProfileData } from "../../../src/task/profile-data.ts";
import type { TaskChange } from "../../../src/task/task-store.ts";
import type { WorkspaceData } from "../../../src/task/workspace-data.ts";
import type { Work } from "./work.ts";

/** A message, the profile and the workspace change together: each says how often, so that a part of it would show. */
export async function tasks({ storage, ledger, newId }: Work): Promise<void> {
  const user_id = newId();
  const { task_id, conversation_id } = await storage.tasks.startTask({ query: "Count", user_id });
  const task = { task_id, user_id, conversation_id };
  for (const n of [1, 2]) {
    await storage.tasks.changeTask(task, counting(n));
    ledger.write({ t: "task", ...task, n });
  }
  ledger.write({ t: "will_complete", ...task });
  await storage.tasks.completeTask(task, counting(3));
  await storage.profiles.changeProfile(user_id, (data) => ({ ...data, communication_style: "brief" }));
}

function counting(n: number): TaskChange[] {
  return [
    { message: { role: "user", content: `${n}` } },
    { profile: (data: ProfileData) => ({ ...data, goals: [`${n}`] }) },
    { workspace: (data: WorkspaceData) => ({ ...data, assessment: `${n}` }) },
  ];
}

/** The count and the log of a chat change together. */
export async function chats({ chat, ledger, newId }: Work): Promise<void> {
  const user_id = newId();
  const session = await chat.create(newChat(user_id, newId()));
  for (const n of [1, 2]) {
    await chat.update(session, { message_count_delta: 1, messages: [{ role: "user", content: `${n}` }] });
    ledger.write({ t: "chat", user_id, n });
  }
  const other = newChat(newId(), newId());
  await chat.save(other);
  await chat.saveMessage({ user_id: other.user_id, chat_id: "c", role: "user", content: "On its own" });
  await chat.delete(other.user_id, "c");
  await chat.save({ ...newChat(newId(), newId()), last_used: new Date(0).toISOString() });
  await chat.expire(new Date(1).toISOString());
}

function newChat(user_id: string, session_id: string): Chat {
  const now = new Date().toISOString();
  return {
    ...{ session_id, user_id, chat_id: "c", working_directory: "/", claude_session_id: null },
    ...{ mode: "plan", total_cost: 0, message_count: 0, is_active: true, created_at: now, last_used: now },
  };
}
