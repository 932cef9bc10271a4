import { isAppError } from "@cognition/contract";
import { expect, it } from "vitest";
import type { State } from "../task/state.ts";
import { createTasks } from "../task/tasks.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

export function taskRaceContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));
  const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));

  test("changes that nobody waited for are stored in the order of the calls by a flush", async ({ storage }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "q", user_id: "alice" });
    const calls = many(60, (n) => tasks.addMessage(state, "user", `${n}`));
    void tasks.setApproach(state, "first");
    void tasks.setApproach(state, "second");
    await tasks.autosave(state);
    const stored = await storage.listMessagesForSession(state.conversation_id);
    expect(stored.map(({ content }) => content)).toEqual(many(60, String));
    expect(state.conversation.messages).toEqual(stored);
    expect(state.workspace.approach).toBe("second");
    await Promise.all(calls);
  });

  test("a flush tells of a change that was refused", async ({ storage }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "q", user_id: "alice" });
    await storage.deleteSession(state.conversation_id);
    void tasks.addMessage(state, "user", "x");
    await expect(tasks.flush(state)).rejects.toMatchObject({ code: "task_completed" });
  });

  test("two tasks on one conversation keep each other's messages and profile changes", async ({ storage, second }) => {
    const [here, there] = [createTasks(storage), createTasks(second ? await second() : storage)];
    const one = await here.startTask({ query: "q", user_id: "alice" });
    const two = await there.startTask({ query: "q", user_id: "alice", conversation_id: one.conversation_id });
    await Promise.all([
      ...many(20, (n) => here.addMessage(one, "user", `one ${n}`)),
      ...many(20, (n) => there.addMessage(two, "user", `two ${n}`)),
      ...many(4, (n) => here.addGoal(one, `one ${n}`)),
      ...many(4, (n) => there.addGoal(two, `two ${n}`)),
    ]);
    const stored = (await storage.listMessagesForSession(one.conversation_id)).map(({ content }) => `${content}`);
    expect(stored).toHaveLength(40);
    for (const who of ["one", "two"]) {
      expect(stored.filter((text) => text.startsWith(who))).toEqual(many(20, (n) => `${who} ${n}`));
    }
    expect(await storage.getSession(one.conversation_id)).toMatchObject({ message_count: 40 });
    const { goals } = await here.getProfile("alice");
    expect([...goals].sort()).toEqual([...many(4, (n) => `one ${n}`), ...many(4, (n) => `two ${n}`)]);
  });

  test("two tasks of one user, each with its own conversation, keep each other's profile changes", async ({
    storage,
    second,
  }) => {
    const [here, there] = [createTasks(storage), createTasks(second ? await second() : storage)];
    const states = await Promise.all([here, there].map((tasks) => tasks.startTask({ query: "q", user_id: "alice" })));
    const rounds = many(10, (n) => n);
    await Promise.all(
      [here, there].map(async (tasks, who) => {
        for (const n of rounds) await tasks.setPreference(states[who] as State, `${who}.${n}`, n);
      }),
    );
    expect(Object.keys((await here.getProfile("alice")).preferences)).toHaveLength(20);
  });

  test("complete racing fifty messages of the same state: those called before it are kept, later ones refused", async ({
    storage,
  }) => {
    const tasks = createTasks(storage);
    const state = await tasks.startTask({ query: "q", user_id: "alice" });
    const before = many(25, (n) => tasks.addMessage(state, "user", `before ${n}`));
    const done = tasks.completeTask(state);
    const after = await Promise.allSettled(many(25, (n) => tasks.addMessage(state, "user", `after ${n}`)));
    await Promise.all([...before, done]);
    expect(after.every((call) => call.status === "rejected" && isAppError(call.reason, "task_completed"))).toBe(true);
    const stored = await storage.listMessagesForSession(state.conversation_id);
    expect(stored.map(({ content }) => content)).toEqual(many(25, (n) => `before ${n}`));
    expect(await storage.tasks.listTasks()).toEqual([]);
  });

  test("complete racing fifty messages of another process: each is kept if it was acknowledged, and no workspace comes back", async ({
    storage,
    second,
  }) => {
    const [here, there] = [createTasks(storage), createTasks(second ? await second() : storage)];
    const state = await here.startTask({ query: "q", user_id: "alice" });
    const { task_id, conversation_id } = state;
    const others = await Promise.all(many(5, () => there.continueTask({ task_id, user_id: "alice" })));
    const calls = others.flatMap((other, o) =>
      many(10, (n) => there.addMessage(other, "user", `${o}.${n}`).then(() => there.addInsight(other, `${o}.${n}`))),
    );
    const ended = Promise.allSettled(calls);
    await here.addMessage(state, "user", "mine");
    await here.completeTask(state);
    for (const call of await ended) {
      if (call.status === "rejected") expect(call.reason).toMatchObject({ code: "task_completed" });
    }
    const stored = (await storage.listMessagesForSession(conversation_id)).map(({ content }) => content);
    const told = others.flatMap((other) => other.conversation.messages.map(({ content }) => content));
    expect([...stored].sort()).toEqual([...told, "mine"].sort());
    expect(await storage.getSession(conversation_id)).toMatchObject({ message_count: stored.length });
    expect(await storage.tasks.listTasks()).toEqual([]);
  });

  test("twenty who start at once make one profile", async ({ storage, second }) => {
    const [here, there] = [createTasks(storage), createTasks(second ? await second() : storage)];
    const started = await Promise.all(
      many(20, (n) => (n % 2 ? here : there).startTask({ query: `${n}`, user_id: "alice" })),
    );
    expect(new Set(started.map(({ profile }) => profile.created_at)).size).toBe(1);
    expect(await storage.tasks.listTasks({ user_id: "alice" })).toHaveLength(20);
    expect(await storage.tasks.listTasks({ user_id: "alice", limit: 3, offset: 18 })).toHaveLength(2);
  });
}
