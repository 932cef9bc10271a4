import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { LEASE } from "../checkpoint/lease.ts";
import type { Storage } from "../storage.ts";
import type { Rewind } from "../timeline-store.ts";
import { put } from "./checkpoint-line.ts";
import { forkContract } from "./fork-contract.ts";
import { counting, forkHistoryContract } from "./fork-history-contract.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { answering, expectRows, human, rowIds } from "./projected-conversation.ts";
import { endOf, startRun } from "./started-run.ts";
import { timelineFilesContract } from "./timeline-files-contract.ts";
import { withStorage } from "./with-storage.ts";

/** A session in which these were asked, one after the other; `heads[i]` is where it stood after the i-th. */
export async function conversation(storage: Storage, asked: readonly string[], scopes = {}) {
  const session = await storage.createSession({ scopes });
  const graph = answering(await storage.getCheckpointer());
  const config = { configurable: { thread_id: session.thread_id } };
  const heads: string[] = [];
  const ask = async (id: string) => {
    await graph.invoke({ messages: [human(id)] }, config);
    heads.push(await headOf(storage, session.id));
  };
  for (const id of asked) await ask(id);
  return { session, session_id: session.id, graph, config, heads, ask };
}

export async function headOf(storage: Storage, session_id: string): Promise<string> {
  const [newest] = await storage.timeline
    .readTimeline(session_id, { limit: 500 })
    .then((all) => all.filter((e) => e.is_head));
  if (!newest) throw new Error("the session has no head");
  return newest.checkpoint_id;
}

const turn = (id: string) => [id, `${id} call`, `${id} result`];

export function timelineContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("reading", () => {
    test("says what was said, what came next and where the head is, newest first", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const all = await storage.timeline.readTimeline(session_id, { limit: 100 });
      expect(all.map(({ is_head }) => is_head).indexOf(true)).toBe(0);
      expect(all[0]).toMatchObject({
        checkpoint_id: heads[1],
        message_count: 6,
        next: [],
        waiting: false,
        source: "loop",
      });
      expect(all[0]?.last).toMatchObject([
        { id: "b call", role: "assistant" },
        { id: "b result", role: "tool", tool_call_id: "c", failed: false },
      ]);
      expect(all.map(({ next }) => next.join())).toEqual([
        ...["", "tools", "model", "__start__"],
        ...["", "tools", "model", "__start__"],
      ]);
      expect(all.map(({ source }) => source).filter((source) => source === "input")).toHaveLength(2);
      const page = await storage.timeline.readTimeline(session_id, { limit: 2, before: heads[1] as string });
      expect(page.map(({ checkpoint_id }) => checkpoint_id)).toEqual(all.slice(1, 3).map((each) => each.checkpoint_id));
      expect(await storage.timeline.readTimeline("nothing")).toEqual([]);
    });
  });

  describe("rewinding", () => {
    test("moves the head, the messages follow, and what was undone stays readable", async ({ storage, second }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b", "c"]);
      const [first = "", , last = ""] = heads;
      const rewound = await rewind(storage, session_id, first);
      expect(rewound.previous_head).toBe(last);
      await expectRows(storage, session_id, turn("a"));
      expect(await storage.getMessage("c call", { session_id })).toMatchObject({ role: "assistant" });
      const undone = await storage.timeline.messagesAt(session_id, last);
      expect(undone.map(({ id }) => id)).toEqual(["a", "b", "c"].flatMap(turn));
      const [event] = (await storage.readEvents({ session_id, types: ["head_moved"] })).events;
      expect(event?.data).toMatchObject({ head: rewound.head, previous_head: last });
      const [newest] = await storage.timeline.readTimeline(session_id, { limit: 1 });
      expect(newest).toMatchObject({ checkpoint_id: rewound.head, parent_id: first, source: "fork", is_head: true });
      const redone = await rewind(second ? await second() : storage, session_id, last);
      expect(redone.previous_head).toBe(rewound.head);
      await expectRows(storage, session_id, ["a", "b", "c"].flatMap(turn));
    });

    test("to where a prune has left no other step, subgraphs that keep their state have it as it was", async ({
      storage,
    }) => {
      const saver = await storage.getCheckpointer();
      const graph = counting(saver);
      const { id, thread_id } = await storage.createSession({});
      const count = async () => (await graph.invoke({ seen: -1 }, { configurable: { thread_id } })).seen;
      expect(await count()).toBe(1);
      const first = await headOf(storage, id);
      expect([await count(), await count()]).toEqual([2, 3]);
      const { previous_head } = await rewind(storage, id, first);
      expect(await count()).toBe(2);
      expect((await saver.prune({ thread_id })).checkpoints).toBeGreaterThan(0);
      await rewind(storage, id, previous_head);
      expect(await count()).toBe(4);
    });

    test("to before the first call of a subgraph that keeps its state, it has none; a redo brings it back", async ({
      storage,
    }) => {
      const graph = counting(await storage.getCheckpointer());
      const { id, thread_id } = await storage.createSession({});
      const config = { configurable: { thread_id } };
      const count = async () => (await graph.invoke({ seen: -1 }, config)).seen;
      expect([await count(), await count()]).toEqual([1, 2]);
      const head = await headOf(storage, id);
      const [given] = (await storage.timeline.readTimeline(id)).slice(-1);
      for (const before of [null, given?.checkpoint_id ?? ""]) {
        await rewind(storage, id, before);
        expect([await count(), await count(), await count()]).toEqual([1, 2, 3]);
        await rewind(storage, id, head);
        expect(await count()).toBe(3);
      }
    });

    test("whoever goes on from a head that nothing has followed finds subgraphs as they were there, not as it was undone", async ({
      storage,
    }) => {
      const saver = await storage.getCheckpointer();
      const graph = counting(saver);
      const { id, thread_id } = await storage.createSession({});
      const count = async (thread_id: string) =>
        (await graph.invoke({ seen: -1 }, { configurable: { thread_id } })).seen;
      expect(await count(thread_id)).toBe(1);
      const first = await headOf(storage, id);
      expect([await count(thread_id), await count(thread_id)]).toEqual([2, 3]);
      const { head } = await rewind(storage, id, first);
      const fork = await storage.timeline.forkSession({ session_id: id, checkpoint_id: head, files: false });
      await saver.copyThread(thread_id, "copy", { checkpoint_id: head });
      await rewind(storage, id, head);
      expect([await count(fork.thread_id), await count("copy"), await count(thread_id)]).toEqual([2, 2, 2]);
    });

    test("the conversation goes on from there, in this process and in another", async ({ storage, second }) => {
      const { session_id, heads, ask, config } = await conversation(storage, ["a", "b"]);
      await rewind(storage, session_id, heads[0] ?? "");
      await ask("x");
      await expectRows(storage, session_id, ["a", "x"].flatMap(turn));
      await rewind(storage, session_id, heads[1] ?? "");
      const other = answering(await (second ? await second() : storage).getCheckpointer());
      await other.invoke({ messages: [human("y")] }, config);
      await expectRows(storage, session_id, ["a", "b", "y"].flatMap(turn));
    });

    test("leaves pending results behind, so that what was undone runs again", async ({ storage }) => {
      const { session_id, graph, config } = await conversation(storage, ["a"]);
      const all = await storage.timeline.readTimeline(session_id, { limit: 100 });
      const before = all.find(({ next }) => next.includes("tools"))?.checkpoint_id ?? "";
      await rewind(storage, session_id, before);
      expect(await rowIds(storage, session_id)).toEqual(["a", "a call"]);
      const state = await graph.getState(config);
      expect(state.next).toEqual(["tools"]);
      await graph.invoke(null, config);
      await expectRows(storage, session_id, turn("a"));
      const tuple = await (await storage.getCheckpointer()).getTuple({
        configurable: { thread_id: config.configurable.thread_id, checkpoint_id: before },
      });
      expect(tuple?.pendingWrites?.length).toBeGreaterThan(0);
    });

    test("what was only pending goes with what is undone, whoever said it", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      for (const said of [new HumanMessage("asked"), new AIMessage("answered")]) {
        const { id, thread_id } = await storage.createSession({});
        const first = await put(saver, thread_id, { messages: [human("a")] });
        const second = await put(saver, first, { messages: [human("a"), human("b")] });
        await saver.putWrites(second.config, [["messages", [said]]], "task");
        await storage.rebuildMessages(id);
        expect(await rowIds(storage, id)).toEqual(["a", "b", expect.stringContaining("task")]);
        await rewind(storage, id, first.checkpoint.id);
        await expectRows(storage, id, ["a"]);
      }
    });

    test("what a run's task had said goes with the step that is undone", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const { session_id, lease } = await startRun(storage);
      const configurable = { [LEASE]: { run_id: lease.run_id, epoch: lease.epoch } };
      const first = await put(saver, lease.thread_id, { messages: [human("a")] }, { configurable });
      const second = await put(saver, first, { messages: [human("a"), human("b")] }, { configurable });
      const config = { configurable: { ...second.config.configurable, ...configurable } };
      await saver.putWrites(config, [["messages", [new AIMessage({ id: "said", content: "said" })]]], "task");
      await storage.finishRun(lease, endOf("failed"));
      await storage.rebuildMessages(session_id);
      expect(await rowIds(storage, session_id)).toEqual(["a", "b", "said"]);
      await rewind(storage, session_id, first.checkpoint.id);
      await expectRows(storage, session_id, ["a"]);
    });

    test("back to what has left the state since, what is undone stays readable, and a redo has it as it was", async ({
      storage,
    }) => {
      const saver = await storage.getCheckpointer();
      const { id: session_id, thread_id } = await storage.createSession({});
      const first = await put(saver, thread_id, { messages: [human("a"), human("b")] });
      await put(saver, first, { messages: [human("b"), human("c")] });
      const before = await storage.listMessagesForSession(session_id);
      const { previous_head } = await rewind(storage, session_id, first.checkpoint.id);
      await expectRows(storage, session_id, ["a", "b"]);
      expect(await storage.getMessage("c", { session_id })).toMatchObject({ content: before[2]?.content });
      await rewind(storage, session_id, previous_head);
      expect(await storage.listMessagesForSession(session_id)).toEqual(before);
    });

    test("to before the first message leaves an empty conversation that can go on", async ({ storage }) => {
      const { session_id, heads, ask } = await conversation(storage, ["a", "b"]);
      await rewind(storage, session_id, null);
      await expectRows(storage, session_id, []);
      await ask("x");
      await expectRows(storage, session_id, turn("x"));
      await rewind(storage, session_id, heads[1] ?? "");
      await expectRows(storage, session_id, ["a", "b"].flatMap(turn));
    });

    test("keeps a message that no run has taken up yet", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      await storage.createMessage({ id: "note", session_id, role: "user", content: "kept" });
      await rewind(storage, session_id, heads[0] ?? "");
      await expectRows(storage, session_id, [...turn("a"), "note"]);
    });

    test("is refused while a run is open, when the head has moved, and for what is not there", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const at = { session_id, checkpoint_id: heads[0] ?? "", conversation: true };
      const stale = storage.timeline.rewindSession({ ...at, expected_head: heads[0] ?? "" });
      await expect(stale).rejects.toMatchObject({ code: "version_conflict", details: { head: heads[1] } });
      await expect(rewind(storage, session_id, "nothing")).rejects.toMatchObject({ code: "checkpoint_not_found" });
      await expect(
        storage.timeline.rewindSession({ ...at, session_id: "nothing", expected_head: null }),
      ).rejects.toMatchObject({ code: "session_not_found" });
      const { run } = await storage.createRun({ session_id });
      const busy = storage.timeline.rewindSession({ ...at, expected_head: heads[1] ?? "" });
      await expect(busy).rejects.toMatchObject({ code: "session_busy", details: { run_id: run.id } });
      expect(await rowIds(storage, session_id)).toEqual(["a", "b"].flatMap(turn));
    });

    test("two at once: one wins, the other is told", async ({ storage, second }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const other = second ? await second() : storage;
      const at = { session_id, expected_head: heads[1] ?? "", conversation: true };
      const results = await Promise.allSettled([
        storage.timeline.rewindSession({ ...at, checkpoint_id: heads[0] ?? "" }),
        other.timeline.rewindSession({ ...at, checkpoint_id: null }),
      ]);
      expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const [lost] = results.filter((result) => result.status === "rejected");
      expect(lost?.reason).toMatchObject({ code: "version_conflict" });
    });
  });

  test("rewinding and forking leave the session's mode, or set it with the rest", async ({ storage }) => {
    const { session_id, heads } = await conversation(storage, ["a", "b"]);
    const [checkpoint_id = ""] = heads;
    const modeOf = async () => (await storage.getSession(session_id))?.mode;
    const planning = await storage.timeline.forkSession({ session_id, checkpoint_id, files: true, mode: "plan" });
    const working = await storage.timeline.forkSession({ session_id, checkpoint_id, files: true });
    expect([planning.mode, working.mode, await modeOf()]).toEqual(["plan", "auto", "auto"]);
    await rewind(storage, session_id, checkpoint_id, { mode: "plan" });
    expect(await modeOf()).toBe("plan");
    await rewind(storage, session_id, heads[1] ?? "");
    expect(await modeOf()).toBe("plan");
  });

  describe("what was written since", () => {
    test("artifacts go back and forth: contents, those made since, and branches never mix", async ({ storage }) => {
      const { session_id, heads, ask } = await conversation(storage, ["a"]);
      const reader = { session_id };
      const make = (name: string, content: string) =>
        storage.artifacts.createArtifact({ session_id, name, artifact_type: "artifact", content });
      const contents = async () => {
        const { artifacts } = await storage.artifacts.listArtifacts(reader);
        const read = artifacts.map(async ({ id, name }) => [
          name,
          (await storage.artifacts.getArtifact(id, reader)).content,
        ]);
        return Object.fromEntries(await Promise.all(read));
      };
      const { id } = await make("old", "1");
      await ask("b");
      await storage.artifacts.updateArtifact(id, { content: "2" }, reader);
      const { id: young } = await make("young", "y");
      await ask("c");
      await storage.artifacts.updateArtifact(id, { content: "3" }, reader);
      const there = await rewind(storage, session_id, heads[1] ?? "", { artifacts: true });
      expect(await contents()).toEqual({ old: "1" });
      await expect(storage.artifacts.getArtifact(young, reader)).rejects.toMatchObject({ code: "artifact_not_found" });
      await storage.artifacts.updateArtifact(id, { content: "other branch" }, reader);
      await ask("x");
      await rewind(storage, session_id, there.previous_head, { artifacts: true });
      expect(await contents()).toEqual({ old: "3", young: "y" });
      await rewind(storage, session_id, heads[2] ?? "", { artifacts: true });
      expect(await contents()).toEqual({ old: "2", young: "y" });
      await rewind(storage, session_id, heads[0] ?? "", { artifacts: true });
      expect(await contents()).toEqual({});
      expect(await storage.artifacts.listVersions(id, reader).catch(() => [])).toEqual([]);
    });

    test("artifacts go back to what the same bytes were then: the type of their content, and whether they were text", async ({
      storage,
    }) => {
      const { session_id, heads, ask } = await conversation(storage, ["a"]);
      const reader = { session_id };
      const content = "# a";
      const { id } = await storage.artifacts.createArtifact({
        ...{ session_id, name: "doc", artifact_type: "artifact", content },
      });
      const now = async () => {
        const { content_type, encoding } = await storage.artifacts.getArtifact(id, reader);
        return { content_type, encoding };
      };
      const made = await now();
      await ask("b");
      await storage.artifacts.updateArtifact(id, { content_type: "text/markdown" }, reader);
      const typed = await now();
      await ask("c");
      await storage.artifacts.updateArtifact(id, { content: Buffer.from(content) }, reader);
      const bytes = await now();
      const { previous_head } = await rewind(storage, session_id, heads[1] ?? "", { artifacts: true });
      expect(await now()).toEqual(made);
      await rewind(storage, session_id, heads[2] ?? "", { artifacts: true });
      expect(await now()).toEqual(typed);
      await rewind(storage, session_id, previous_head, { artifacts: true });
      expect(await now()).toEqual(bytes);
      expect([made, typed, bytes]).toEqual([
        { content_type: "text/plain; charset=utf-8", encoding: "text" },
        { content_type: "text/markdown", encoding: "text" },
        { content_type: "application/octet-stream", encoding: "base64" },
      ]);
    });

    test("artifacts and memory alone go back, and forth again, also from where the conversation has gone on", async ({
      storage,
    }) => {
      const { session, session_id, heads, ask } = await conversation(storage, ["a"]);
      const reader = { session_id };
      const store = (await storage.getStore()).recordedFor(session.thread_id);
      const write = async (content: string) => {
        const { artifacts } = await storage.artifacts.listArtifacts(reader);
        const made = { session_id, name: "doc", artifact_type: "artifact" as const, content };
        if (artifacts[0]) await storage.artifacts.updateArtifact(artifacts[0].id, { content }, reader);
        else await storage.artifacts.createArtifact(made);
        await store.put(["m"], "doc", { content });
      };
      const written = async () => {
        const { artifacts } = await storage.artifacts.listArtifacts(reader);
        const read = artifacts.map(async ({ id }) => (await storage.artifacts.getArtifact(id, reader)).content);
        return [...(await Promise.all(read)), (await store.get(["m"], "doc"))?.value["content"]];
      };
      const go = (to: string | null, conversation = false) =>
        rewind(storage, session_id, to, { artifacts: true, memory: true, conversation });
      await write("1");
      await ask("b");
      await write("2");
      const gone = await go(heads[0] ?? "");
      expect(await written()).toEqual([undefined]);
      await go(gone.previous_head);
      expect(await written()).toEqual(["2", "2"]);
      await go(heads[1] ?? "");
      expect(await written()).toEqual(["1", "1"]);
      await ask("c");
      await write("3");
      const later = await go(heads[0] ?? "");
      expect(await written()).toEqual([undefined]);
      await go(later.previous_head);
      expect(await written()).toEqual(["3", "3"]);
      await go(null);
      expect(await written()).toEqual([undefined]);
      const saver = await storage.getCheckpointer();
      await saver.prune({ thread_id: session.thread_id });
      await go(later.previous_head, true);
      expect(await written()).toEqual(["3", "3"]);
    });

    test("what was written before an input stays where the conversation goes to before it", async ({ storage }) => {
      const { session_id, heads, ask } = await conversation(storage, ["a"]);
      const reader = { session_id };
      const { id } = await storage.artifacts.createArtifact({
        ...{ session_id, name: "doc", artifact_type: "artifact", content: "before" },
      });
      await ask("b");
      await storage.artifacts.updateArtifact(id, { content: "after" }, reader);
      await ask("c");
      const input = { artifacts: true, written_at: heads[1] ?? "" };
      const { previous_head } = await rewind(storage, session_id, heads[0] ?? "", input);
      const content = async () => (await storage.artifacts.getArtifact(id, reader)).content;
      expect(await content()).toBe("before");
      await ask("x");
      await storage.artifacts.updateArtifact(id, { content: "other" }, reader);
      const [, , , x = ""] = heads;
      await rewind(storage, session_id, x, { artifacts: true });
      expect(await content()).toBe("before");
      await rewind(storage, session_id, previous_head, { artifacts: true });
      expect(await content()).toBe("after");
    });

    test("memory goes back where nobody else has changed it", async ({ storage }) => {
      const { session, session_id, heads, ask } = await conversation(storage, ["a"]);
      const shared = await storage.getStore();
      const store = shared.recordedFor(session.thread_id);
      await shared.put(["m"], "both", { n: 0 });
      await store.put(["m"], "kept", { n: 1 });
      await ask("b");
      await store.put(["m"], "kept", { n: 2 });
      await store.put(["m"], "new", { n: 2 });
      await store.put(["m"], "both", { n: 2 });
      await store.delete(["m"], "kept");
      await shared.put(["m"], "both", { n: "another's" });
      await ask("c");
      const there = await rewind(storage, session_id, heads[1] ?? "", { memory: true });
      const values = async () =>
        Object.fromEntries((await shared.search(["m"], { limit: 10 })).map(({ key, value }) => [key, value["n"]]));
      expect(await values()).toEqual({ both: "another's", kept: 1 });
      await rewind(storage, session_id, there.previous_head, { memory: true });
      expect(await values()).toEqual({ both: "another's", new: 2 });
    });

    test("survives a prune: the last branches can be redone, and artifacts are still as they were", async ({
      storage,
    }) => {
      const { session, session_id, heads, ask } = await conversation(storage, ["a", "b"]);
      const reader = { session_id };
      const { id } = await storage.artifacts.createArtifact({
        session_id,
        name: "n",
        artifact_type: "artifact",
        content: "1",
      });
      await ask("c");
      const { previous_head } = await rewind(storage, session_id, heads[1] ?? "", { artifacts: true });
      await ask("x");
      const saver = await storage.getCheckpointer();
      const { checkpoints } = await saver.prune({ thread_id: session.thread_id });
      expect(checkpoints).toBeGreaterThan(4);
      await expect(storage.artifacts.getArtifact(id, reader)).rejects.toMatchObject({ code: "artifact_not_found" });
      await rewind(storage, session_id, previous_head, { artifacts: true });
      await expectRows(storage, session_id, ["a", "b", "c"].flatMap(turn));
      expect((await storage.artifacts.getArtifact(id, reader)).content).toBe("1");
    });
  });

  describe("branching under a lease", () => {
    test("goes on from an earlier checkpoint, and is refused for a run that was taken over", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      await storage.createRun({ session_id });
      const lease = await storage.claimRun({ owner: "w", lease_ms: 60_000, session_id });
      if (!lease) throw new Error("no run");
      const head = await storage.timeline.branchThread(lease, heads[0] ?? "");
      expect(await headOf(storage, session_id)).toBe(head);
      await expectRows(storage, session_id, turn("a"));
      const { lease: other } = await startRun(storage);
      const stale = { ...other, epoch: other.epoch - 1 };
      await expect(storage.timeline.branchThread(stale, "x")).rejects.toMatchObject({ code: "stale_epoch" });
    });
  });

  timelineFilesContract(open);
  forkContract(open);
  forkHistoryContract(open);
}

export async function rewind(
  storage: Storage,
  session_id: string,
  checkpoint_id: string | null,
  what: Partial<Pick<Rewind, "artifacts" | "memory" | "conversation" | "written_at" | "mode">> = {},
) {
  const expected_head = await headOf(storage, session_id);
  return storage.timeline.rewindSession({ session_id, checkpoint_id, expected_head, conversation: true, ...what });
}
