import { Task } from "@cognition/contract";
import { expect, it } from "vitest";
import { createTasks } from "../task/tasks.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

export function taskLifecycleContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  test("a new task has all four parts, and profile, conversation and workspace are stored", async ({ storage }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "analyze codebase", user_id: "alice" });
    expect(Task.parse(structuredClone(state))).toEqual(state);
    expect(state).toMatchObject({ query: "analyze codebase", user_id: "alice" });
    expect(state.profile).toMatchObject({ user_id: "alice", preferences: {}, goals: [], projects: {} });
    expect(state.profile.last_updated).toBe(state.profile.created_at);
    expect(state.workspace).toMatchObject({ objective: "analyze codebase", assessment: "", facts: {}, thoughts: [] });
    expect(state.execution).toEqual({
      ...{ iteration: 0, max_iterations: 10, mode: "adapt", stop_reason: null, messages: [], response: null },
      ...{ pending_calls: [], completed_calls: [], iterations_without_tools: 0 },
    });
    expect(await tasks.getProfile("alice")).toEqual(state.profile);
    expect(await storage.getSession(state.conversation_id)).toMatchObject({ message_count: 0, status: "active" });
    expect(await storage.tasks.listTasks({ user_id: "alice" })).toMatchObject([{ task_id: state.task_id }]);
  });

  test("the user is default unless told", async ({ storage }) => {
    expect(await createTasks(storage).startTask({ query: "q" })).toMatchObject({ user_id: "default" });
  });

  test("a message is a row of the session, and a copy each of conversation and execution", async ({ storage }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "q", user_id: "alice" });
    await tasks.addMessage(state, "user", "hello");
    const stored = await storage.listMessagesForSession(state.conversation_id);
    expect(stored).toMatchObject([{ role: "user", content: "hello" }]);
    expect(state.conversation.messages).toEqual(stored);
    expect(state.execution.messages).toEqual(stored);
    (state.execution.messages[0] as { content: string }).content = "changed by a runtime";
    expect(state.conversation.messages).toEqual(stored);
  });

  test("a later task on the conversation has its history", async ({ storage }) => {
    const tasks = createTasks(storage);
    const one = await tasks.startTask({ query: "What is AI?", user_id: "alice" });
    await tasks.addMessage(one, "user", "What is AI?");
    await tasks.addMessage(one, "assistant", "AI is …");
    await tasks.completeTask(one);
    const { conversation_id } = one;
    const two = await tasks.startTask({ query: "Tell me more", user_id: "alice", conversation_id });
    expect(two.conversation_id).toBe(conversation_id);
    expect(two.execution.messages.map(({ content }) => content)).toEqual(["What is AI?", "AI is …"]);
    expect(two.workspace).toMatchObject({ objective: "Tell me more", insights: [] });
  });

  test("an unknown, another user's or another scope's conversation is refused, and nothing is made", async ({
    storage,
  }) => {
    const tasks = createTasks(storage);
    const { conversation_id } = await tasks.startTask({ query: "q", user_id: "alice", scope: { org: "a" } });
    const refused = [
      { user_id: "bob", conversation_id: "unknown" },
      { user_id: "bob", conversation_id, scope: { org: "a" } },
      { user_id: "alice", conversation_id },
      { user_id: "alice", conversation_id, scope: { org: "b" } },
    ];
    for (const task of refused) {
      await expect(tasks.startTask({ query: "q", ...task })).rejects.toMatchObject({ code: "conversation_not_found" });
      if (task.user_id === "bob") expect(await storage.profiles.getProfile("bob", task.scope)).toBeNull();
    }
    expect(await storage.tasks.listTasks()).toHaveLength(1);
    await storage.deleteSession(conversation_id);
    const gone = tasks.startTask({ query: "q", user_id: "alice", conversation_id, scope: { org: "a" } });
    await expect(gone).rejects.toMatchObject({ code: "conversation_not_found" });
  });

  test("a session that nobody has worked on yet becomes the conversation of the first who does", async ({
    storage,
  }) => {
    const tasks = createTasks(storage);
    const { id: conversation_id } = await storage.createSession({});
    await storage.createMessage({ session_id: conversation_id, role: "user", content: "before" });
    const state = await tasks.startTask({ query: "q", user_id: "alice", conversation_id });
    expect(state.execution.messages).toMatchObject([{ content: "before" }]);
    const late = tasks.startTask({ query: "q", user_id: "bob", conversation_id });
    await expect(late).rejects.toMatchObject({ code: "conversation_not_found" });
  });

  test("the task that a session works on is its newest open one, in its scope alone", async ({ storage }) => {
    const tasks = createTasks(storage);
    const scope = { org: "a" };
    const one = await tasks.startTask({ query: "one", user_id: "alice", scope });
    const { conversation_id } = one;
    await tasks.addInsight(one, "noted");
    expect(await storage.tasks.findTask(conversation_id, scope)).toMatchObject({
      ...{ task_id: one.task_id, user_id: "alice", query: "one", scope, conversation_id },
      workspace: { objective: "one", insights: ["noted"] },
    });
    expect(await storage.tasks.findTask(conversation_id)).toBeNull();
    await tasks.completeTask(one);
    expect(await storage.tasks.findTask(conversation_id, scope)).toBeNull();
  });

  test("continue restores conversation, workspace and the original query after a restart", async ({
    storage,
    reopen,
  }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "the question", user_id: "alice" });
    await tasks.addMessage(state, "user", "one");
    await tasks.setObjective(state, "another objective");
    await tasks.addInsight(state, "insight");
    await tasks.setPreference(state, "theme", "dark");
    state.execution.iteration = 7;
    const after = createTasks(reopen ? await reopen() : storage);
    const { task_id } = state;
    const again = await after.continueTask({ task_id, user_id: "alice" });
    expect(again).toEqual({ ...state, execution: { ...state.execution, iteration: 0 } });
    expect(again).toMatchObject({ query: "the question", conversation_id: state.conversation_id });
    await after.addMessage(again, "assistant", "two");
    expect(again.conversation.messages).toHaveLength(2);
    expect(await after.continueTask({ task_id })).toMatchObject({ user_id: "alice" });
  });

  test("continue tells a missing profile from a missing task", async ({ storage }) => {
    const tasks = createTasks(storage);
    const { task_id } = await tasks.startTask({ query: "q", user_id: "alice" });
    await tasks.startTask({ query: "q", user_id: "bob" });
    const code = (task: Parameters<typeof tasks.continueTask>[0]) =>
      tasks.continueTask(task).then(
        () => "continued",
        (error) => error.code,
      );
    expect(await code({ task_id, user_id: "nobody" })).toBe("profile_not_found");
    expect(await code({ task_id: "unknown", user_id: "alice" })).toBe("task_not_found");
    expect(await code({ task_id: "unknown" })).toBe("task_not_found");
    expect(await code({ task_id, user_id: "bob" })).toBe("task_not_found");
    expect(await code({ task_id, user_id: "alice", scope: { org: "a" } })).toBe("profile_not_found");
    expect(await code({ task_id, user_id: "alice" })).toBe("continued");
  });

  test("complete keeps profile and conversation, deletes the workspace and ends the task", async ({
    storage,
    second,
  }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "q", user_id: "alice" });
    const elsewhere = createTasks(second ? await second() : storage);
    const other = await elsewhere.continueTask({ task_id: state.task_id, user_id: "alice" });
    await tasks.addMessage(state, "user", "kept");
    await tasks.addGoal(state, "goal");
    const { task_id, conversation_id } = state;
    const done = await tasks.completeTask(state);
    expect(done).toMatchObject({ task_id, conversation_id });
    expect(await tasks.completeTask(state)).toEqual(done);
    expect(await elsewhere.completeTask(other)).toEqual(done);
    await expect(tasks.addMessage(state, "user", "late")).rejects.toMatchObject({ code: "task_completed" });
    await expect(tasks.addInsight(state, "late")).rejects.toMatchObject({ code: "task_completed" });
    const third = createTasks(storage);
    await expect(third.continueTask({ task_id, user_id: "alice" })).rejects.toMatchObject({ code: "task_not_found" });
    expect(await tasks.getProfile("alice")).toMatchObject({ goals: ["goal"] });
    expect(await storage.listMessagesForSession(conversation_id)).toMatchObject([{ content: "kept" }]);
    expect(await storage.tasks.listTasks()).toEqual([]);
  });

  test("that a task was completed is known to who asks with its user and scope, until its conversation goes", async ({
    storage,
    reopen,
  }) => {
    const scope = { org: "a" };
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "q", user_id: "alice", scope });
    const { task_id, conversation_id } = state;
    expect(await tasks.findCompletedTask({ task_id, scope })).toBeNull();
    const done = await tasks.completeTask(state);
    const again = reopen ? await reopen() : storage;
    const after = createTasks(again);
    expect(await after.findCompletedTask({ task_id, scope })).toEqual(done);
    expect(await after.findCompletedTask({ task_id, scope, user_id: "alice" })).toEqual(done);
    expect(await after.findCompletedTask({ task_id, scope, user_id: "bob" })).toBeNull();
    expect(await after.findCompletedTask({ task_id, scope: { org: "b" } })).toBeNull();
    expect(await after.findCompletedTask({ task_id })).toBeNull();
    await again.tasks.startTask({ task_id, query: "again", user_id: "alice", scope, conversation_id });
    expect(await after.findCompletedTask({ task_id, scope }), "one that was begun again is open").toBeNull();
    const second = await after.completeTask(await after.continueTask({ task_id, scope }));
    expect(await after.findCompletedTask({ task_id, scope })).toEqual(second);
    await again.deleteSession(conversation_id);
    expect(await after.findCompletedTask({ task_id, scope })).toBeNull();
  });

  test("a task that was completed elsewhere takes no change, and its workspace stays gone", async ({
    storage,
    second,
  }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "q", user_id: "alice" });
    const elsewhere = createTasks(second ? await second() : storage);
    const { task_id, conversation_id } = state;
    await elsewhere.completeTask(await elsewhere.continueTask({ task_id, user_id: "alice" }));
    for (const late of [
      tasks.addMessage(state, "user", "late"),
      tasks.addInsight(state, "late"),
      tasks.addGoal(state, "late"),
      tasks.updateWorkspace(state, { approach: "late" }),
    ]) {
      await expect(late).rejects.toMatchObject({ code: "task_completed" });
    }
    expect(await storage.tasks.listTasks()).toEqual([]);
    expect(await storage.listMessagesForSession(conversation_id)).toEqual([]);
    expect(await tasks.getProfile("alice")).toMatchObject({ goals: [] });
    expect(await tasks.completeTask(state)).toMatchObject({ task_id });
  });

  test("a task goes with its conversation", async ({ storage }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "q", user_id: "alice" });
    await storage.deleteSession(state.conversation_id);
    expect(await storage.tasks.listTasks()).toEqual([]);
    await expect(tasks.addMessage(state, "user", "late")).rejects.toMatchObject({ code: "task_completed" });
    expect(await tasks.completeTask(state)).toMatchObject({ task_id: state.task_id });
  });

  test("the same user in two scopes is two people", async ({ storage }) => {
    const tasks = createTasks(storage);
    const one = await tasks.startTask({ query: "q", scope: { org: "a" } });
    const two = await tasks.startTask({ query: "q", scope: { org: "b" } });
    await tasks.addGoal(one, "only a's");
    expect(await tasks.getProfile("default", { org: "a" })).toMatchObject({ goals: ["only a's"] });
    expect(await tasks.getProfile("default", { org: "b" })).toMatchObject({ goals: [] });
    await expect(tasks.getProfile("default")).rejects.toMatchObject({ code: "profile_not_found" });
    expect(await storage.tasks.listTasks({ scope: { org: "b" } })).toMatchObject([{ task_id: two.task_id }]);
    await expect(tasks.continueTask({ task_id: one.task_id, scope: { org: "b" } })).rejects.toMatchObject({
      code: "task_not_found",
    });
  });

  test("ids that only differ in where a colon stands are two users", async ({ storage }) => {
    const tasks = createTasks(storage);
    const [a, b] = [
      await tasks.startTask({ query: "q", user_id: "a:b" }),
      await tasks.startTask({ query: "q", user_id: "a:c" }),
    ];
    await tasks.addGoal(a, "goal");
    expect(await tasks.getProfile("a:c")).toEqual(b.profile);
  });

  test("odd and long text comes back as it went in", async ({ storage, reopen }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "日本語 \u0007 👋", user_id: "ἀλίκη 'x'" });
    const texts = [...ODD_TEXTS, LONG_TEXT, "nul \u0000 inside", "half \ud83d of a pair"];
    for (const text of texts) {
      await tasks.addMessage(state, "assistant", text);
      await tasks.learnFact(state, "text", text);
    }
    const after = createTasks(reopen ? await reopen() : storage);
    const again = await after.continueTask({ task_id: state.task_id, user_id: "ἀλίκη 'x'" });
    expect(again.conversation.messages.map(({ content }) => content)).toEqual(texts);
    expect(again).toMatchObject({ query: "日本語 \u0007 👋", workspace: { facts: { text: texts.at(-1) } } });
  });

  test("bad input is refused and makes nothing", async ({ storage }) => {
    const tasks = createTasks(storage);
    for (const task of [{ query: "" }, { query: "q", user_id: "" }, { query: "q", user_id: "u".repeat(256) }]) {
      await expect(tasks.startTask(task)).rejects.toMatchObject({ code: "validation_failed" });
    }
    expect(await storage.countSessions()).toBe(0);
  });
}
