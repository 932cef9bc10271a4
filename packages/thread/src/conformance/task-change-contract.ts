import { expect, it } from "vitest";
import type { State } from "../task/state.ts";
import { createTasks, type Tasks } from "../task/tasks.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

export function taskChangeContract(open: OpenStorage): void {
  const test = (name: string, body: (tasks: Tasks, state: State, again: () => Promise<State>) => Promise<void>) =>
    it(
      name,
      withStorage(open, async ({ storage }) => {
        const tasks = createTasks(storage);
        const state = await tasks.startTask({ query: "q", user_id: "alice" });
        await body(tasks, state, () => createTasks(storage).continueTask({ task_id: state.task_id, user_id: "alice" }));
      }),
    );

  it(
    "no change at all changes nothing, and is refused like any other once the task is over",
    withStorage(open, async ({ storage }) => {
      const tasks = createTasks(storage);
      const state = await tasks.startTask({ query: "q", user_id: "alice" });
      await tasks.addMessage(state, "user", "hello");
      const { task_id, conversation_id } = state;
      const ref = { task_id, conversation_id, user_id: "alice", scope: {} };
      const before = await storage.getSession(conversation_id);
      expect(await storage.tasks.changeTask(ref, [])).toMatchObject({ messages: [] });
      expect(await storage.getSession(conversation_id)).toEqual(before);
      await tasks.completeTask(state);
      await expect(storage.tasks.changeTask(ref, [])).rejects.toMatchObject({ code: "task_completed" });
    }),
  );

  const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n}`);

  test("lists keep their newest: insights 10, observations 15, goals 10, expertise 15", async (tasks, state, again) => {
    for (const text of numbers(20)) {
      await Promise.all([
        tasks.addInsight(state, text),
        tasks.addObservation(state, text),
        tasks.addGoal(state, text),
        tasks.addExpertise(state, text),
      ]);
    }
    const { workspace, profile } = await again();
    expect(workspace.insights).toEqual(numbers(20).slice(-10));
    expect(workspace.observations).toEqual(numbers(20).slice(-15));
    expect(profile.goals).toEqual(numbers(20).slice(-10));
    expect(profile.expertise_areas).toEqual(numbers(20).slice(-15));
    expect({ workspace, profile }).toEqual({ workspace: state.workspace, profile: state.profile });
  });

  test("facts keep 20 and projects 10, by when they were last changed", async (tasks, state) => {
    for (const key of numbers(20)) await tasks.learnFact(state, key, { n: key });
    await tasks.learnFact(state, "0", "changed");
    await tasks.learnFact(state, "2", { n: "2" });
    for (const key of ["x", "y"]) await tasks.learnFact(state, key, key);
    const kept = [...numbers(20).filter((key) => key !== "1" && key !== "2"), "x", "y"];
    expect(Object.keys(state.workspace.facts).sort()).toEqual(kept.sort());
    expect(state.workspace.facts["0"]).toBe("changed");
    for (const name of numbers(12)) await tasks.setProject(state, name, `about ${name}`);
    expect(Object.keys(state.profile.projects).sort()).toEqual(numbers(12).slice(2).sort());
  });

  test("thoughts keep 5, each with its tool calls and time", async (tasks, state) => {
    for (const text of numbers(7)) await tasks.recordThought(state, text, [{ name: "search", args: { q: text } }]);
    expect(state.workspace.thoughts.map(({ thinking }) => thinking)).toEqual(numbers(7).slice(2));
    expect(state.workspace.thoughts[0]).toMatchObject({ tool_calls: [{ name: "search", args: { q: "2" } }] });
    expect(state.workspace.thoughts[0]?.["timestamp"]).toMatch(/Z$/);
  });

  test("blanks are ignored, and duplicates after trimming", async (tasks, state) => {
    const before = structuredClone({ profile: state.profile, workspace: state.workspace });
    for (const blank of ["", " \n\t "]) {
      await tasks.addInsight(state, blank);
      await tasks.addGoal(state, blank);
      await tasks.setApproach(state, blank);
      await tasks.setCommunicationStyle(state, blank);
      await tasks.learnFact(state, blank, 1);
      await tasks.setPreference(state, blank, 1);
      await tasks.setProject(state, blank, "x");
      await tasks.recordThought(state, blank);
    }
    expect({ profile: state.profile, workspace: state.workspace }).toEqual(before);
    for (const same of ["a", " a ", "a\n"]) {
      await tasks.addInsight(state, same);
      await tasks.addObservation(state, same);
      await tasks.addGoal(state, same);
      await tasks.addExpertise(state, same);
      await tasks.recordThought(state, same);
      await tasks.learnFact(state, same, 1);
    }
    expect(state.workspace).toMatchObject({ insights: ["a"], observations: ["a"], facts: { a: 1 } });
    expect(state.workspace.thoughts).toHaveLength(1);
    expect(state.profile).toMatchObject({ goals: ["a"], expertise_areas: ["a"] });
  });

  test("only a change moves the profile's time", async (tasks, state) => {
    const { last_updated } = state.profile;
    await tasks.addInsight(state, "of the workspace");
    await tasks.addMessage(state, "user", "x");
    expect(await tasks.getProfile("alice")).toMatchObject({ last_updated });
  });

  test("texts and preferences are set, and a patch replaces only its fields", async (tasks, state, again) => {
    await tasks.setObjective(state, "o");
    await tasks.setAssessment(state, "as");
    await tasks.setApproach(state, " ap ");
    await tasks.setPreference(state, "theme", { dark: true });
    await tasks.setCommunicationStyle(state, "terse");
    await tasks.addInsight(state, "old");
    await tasks.updateWorkspace(state, { assessment: "", insights: ["b", " b", "", "c"], facts: { k: [1] } });
    await tasks.updateProfile(state, { goals: ["g"], projects: { p: "d" } });
    const stored = await again();
    expect(stored.workspace).toMatchObject({ objective: "o", assessment: "", approach: "ap", insights: ["b", "c"] });
    expect(stored.workspace.facts).toEqual({ k: [1] });
    expect(stored.profile).toMatchObject({ communication_style: "terse", goals: ["g"], projects: { p: "d" } });
    expect(stored.profile.preferences).toEqual({ theme: { dark: true } });
  });

  test("what can't be stored is an error at the call, and changes nothing", async (tasks, state, again) => {
    const values = [1n, Number.NaN, undefined, new Date(), () => 1, new Map([[1, 2]])];
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    for (const value of [...values, cycle, { deep: [new Date()] }]) {
      await expect(tasks.learnFact(state, "k", value)).rejects.toMatchObject({ code: "unserializable_value" });
      await expect(tasks.setPreference(state, "k", value)).rejects.toMatchObject({ code: "unserializable_value" });
      const content = [{ type: "text", value }];
      await expect(tasks.addMessage(state, "user", content)).rejects.toMatchObject({ code: "unserializable_value" });
    }
    const role = "robot" as "user";
    await expect(tasks.addMessage(state, role, "x")).rejects.toMatchObject({ code: "validation_failed" });
    await expect(tasks.addInsight(state, "i".repeat(10_001))).rejects.toMatchObject({ code: "validation_failed" });
    await expect(tasks.addInsight(state, 5 as never)).rejects.toMatchObject({ code: "validation_failed" });
    await tasks.learnFact(state, "fine", 1);
    expect((await again()).workspace.facts).toEqual({ fine: 1 });
    expect((await again()).conversation.messages).toEqual([]);
  });

  test("what was handed in may be changed afterwards, what was handed out may not", async (tasks, state) => {
    const value = { n: 1 };
    const stored = tasks.learnFact(state, "k", value);
    value.n = 2;
    await stored;
    expect(state.workspace.facts).toEqual({ k: { n: 1 } });
    expect(() => (state.workspace.insights as string[]).push("x")).toThrow(TypeError);
    expect(() => Object.assign(state.profile.preferences, { x: 1 })).toThrow(TypeError);
  });

  test("profiles are read, replaced and patched without a task", async (tasks) => {
    await expect(tasks.getProfile("bob")).rejects.toMatchObject({ code: "profile_not_found" });
    const made = await tasks.patchProfile("bob", { goals: ["g"], communication_style: "warm" });
    expect(made).toMatchObject({ user_id: "bob", goals: ["g"], communication_style: "warm" });
    expect(await tasks.replaceProfile("bob", { projects: { p: "d" } })).toMatchObject({
      goals: [],
      projects: { p: "d" },
    });
    expect(await tasks.getProfile("bob")).toMatchObject({ communication_style: "", created_at: made.created_at });
    await expect(tasks.patchProfile("", {})).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("the same message id again is one message", async (tasks, state, again) => {
    for (const content of ["first", "second", "first"])
      await tasks.addMessage(state, "user", content, { id: `id-${content}` });
    expect(state.conversation.messages.map(({ content }) => content)).toEqual(["first", "second"]);
    expect((await again()).conversation.messages).toEqual(state.conversation.messages);
  });
}
