import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { LEASE, type WriterLease } from "../checkpoint/lease.ts";
import type { Storage } from "../storage.ts";
import { checkpointEventContract } from "./checkpoint-event-contract.ts";
import { threadConfig } from "./checkpoint-graph.ts";
import { elsewhere, put } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { answering, expectRebuilt, expectRows, human, rowIds, UNTOUCHED } from "./projected-conversation.ts";
import { projectionModelContract } from "./projection-model-contract.ts";
import { claim, endOf, startRun, upTo } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

/** A session's messages follow its checkpoints, in the same commit. */
export function checkpointProjectionContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("messages of a session", () => {
    test("follow what a graph adds, step by step, and a rebuild finds nothing to do", async ({ storage, second }) => {
      const session = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      for (const n of upTo(3)) {
        await answering(saver).invoke({ messages: [human(`q${n}`)] }, threadConfig(session.thread_id));
        await expectRows(
          storage,
          session.id,
          upTo(n).flatMap((each) => [`q${each}`, `q${each} call`, `q${each} result`]),
        );
      }
      const other = second ? await second() : storage;
      const messages = await other.listMessagesForSession(session.id);
      expect(messages.map(({ role }) => role).slice(0, 3)).toEqual(["user", "assistant", "tool"]);
      expect(messages[1]).toMatchObject({
        tool_calls: [{ id: "c", name: "look", args: { at: "q1" } }],
        model_used: "m",
      });
      expect(messages[1]).toMatchObject({ token_count: 7, parent_id: "q1" });
      expect(messages[2]).toMatchObject({ tool_call_id: "c", metadata: {} });
      expect(await other.getSession(session.id)).toMatchObject({ message_count: 9 });
    });

    test("say why an answer is not whole, in its providers' words or a server's, and keep what a row was given", async ({
      storage,
    }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const ends: [object, object][] = [
        [{ response_metadata: { finish_reason: "length" } }, { stop_reason: "max_tokens" }],
        [{ response_metadata: { stopReason: "guardrail_intervened" } }, { stop_reason: "refusal" }],
        [{ response_metadata: { incomplete_details: { reason: "max_output_tokens" } } }, { stop_reason: "max_tokens" }],
        [{ additional_kwargs: { stop_reason: "refusal" } }, { stop_reason: "refusal" }],
        [{ response_metadata: { cognition: { stop_reason: "max_tokens" } } }, { stop_reason: "max_tokens" }],
        [{ response_metadata: { finish_reason: "stop" } }, {}],
        [{ response_metadata: { finish_reason: "length" } }, { own: "kept" }],
      ];
      const said = ends.map(([end], n) => new AIMessage({ id: `a${n}`, content: "Once upon", ...end }));
      const first = await put(saver, thread_id, { messages: [human("q")] });
      const own = { session_id: id, role: "assistant", content: "", metadata: { own: "kept" } } as const;
      await storage.createMessage({ ...own, metadata: {}, id: "a0" });
      await storage.createMessage({ ...own, id: `a${ends.length - 1}` });
      await put(saver, first, { messages: [human("q"), ...said] });
      const shown = async () => (await storage.listMessagesForSession(id)).slice(1).map(({ metadata }) => metadata);
      expect(await shown()).toEqual(ends.map(([, metadata]) => metadata));
      await expectRebuilt(storage, id);
      const [head] = await storage.timeline.readTimeline(id, { limit: 1 });
      const then = await storage.timeline.messagesAt(id, head?.checkpoint_id ?? "");
      expect(then.slice(1).map(({ metadata }) => metadata)).toEqual(ends.map(([, metadata]) => metadata));
    });

    test("of a conversation that had no session are there with the session, and follow it from then on", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const thread_id = "0198c5a0-0000-7000-8000-000000000006";
      await answering(saver).invoke({ messages: [human("q1")] }, threadConfig(thread_id));
      const said = ["q1", "q1 call", "q1 result"];
      const { id, message_count } = await (second ? await second() : storage).createSession({ thread_id });
      expect(message_count).toBe(said.length);
      await expectRows(storage, id, said);
      await answering(saver).invoke({ messages: [human("q2")] }, threadConfig(thread_id));
      await expectRows(storage, id, [...said, "q2", "q2 call", "q2 result"]);
    });

    test("of a thread that gets its session while a graph works on it are all there", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const thread_id = "0198c5a0-0000-7000-8000-000000000007";
      const saver = await storage.getCheckpointer();
      const signal = new AbortController().signal;
      const first = await put(saver, thread_id, { messages: [human("a")] }, { signal });
      const next = await put(saver, first, { messages: [human("a"), human("b")] }, { signal });
      const { id } = await other.createSession({ thread_id });
      await put(saver, next, { messages: [human("a"), human("b"), human("c")] }, { signal });
      await expectRows(storage, id, ["a", "b", "c"]);
    });

    test("that have no id are each there once, in their order, also those that say the same", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const [ask, answer] = [new HumanMessage("why?"), new AIMessage("because")];
      const said = async () => (await storage.listMessagesForSession(id)).map(({ content }) => content);
      let at = await put(saver, thread_id, { messages: [ask] });
      at = await put(saver, at, { messages: [ask, answer] });
      at = await put(saver, at, { messages: [ask, answer], n: 1 }, { changed: ["n"] });
      at = await put(saver, at, { messages: [ask, answer, new HumanMessage("why?"), new AIMessage("because")] });
      expect(await said()).toEqual(["why?", "because", "why?", "because"]);
      await expectRebuilt(storage, id);
      const ids = (await storage.listMessagesForSession(id)).map((message) => message.id);
      const held = await storage.timeline.messagesAt(id, at.checkpoint.id);
      expect(held.map((message) => message.id)).toEqual(ids);
      await put(saver, at, { messages: [new HumanMessage("why?"), new AIMessage("because"), human("last")] });
      expect(await said()).toEqual(["why?", "because", "why?", "because", "last"]);
      await expectRebuilt(storage, id);
    });

    test("are edited, and marked when they leave the state, but stay", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const all = ["a", "b", "c", "d"].map((id) => human(id));
      const first = await put(saver, thread_id, { messages: all });
      const edited = await put(saver, first, { messages: [all[0], human("b", "edited"), all[2], all[3]] });
      await expectRows(storage, id, ["a", "b", "c", "d"]);
      expect(await storage.getMessage("b", { session_id: id })).toMatchObject({ content: "edited" });
      const fewer = await put(saver, edited, { messages: [all[2], all[3]] });
      await put(saver, fewer, { messages: [all[3], human("summary")] });
      await expectRows(storage, id, ["a", "b", "c", "d", "summary"]);
      const marked = (await storage.listMessagesForSession(id)).filter(({ metadata }) => metadata["summarized"]);
      expect(marked.map((message) => message.id)).toEqual(["a", "b", "c"]);
    });

    test("of several checkpoints in one commit: each is of the first that holds it, and says what the last does", async ({
      storage,
    }) => {
      const { session_id, lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const writer: WriterLease = { ...lease, pipelined: true };
      const options = { configurable: { [LEASE]: writer } };
      const a = human("a");
      const before = await put(saver, lease.thread_id, { messages: [a] }, { configurable: { [LEASE]: lease } });
      const draft = new AIMessage({ id: "b", content: "draft", response_metadata: { model_name: "m" } });
      const first = await put(saver, before, { messages: [a, draft] }, options);
      const text = new AIMessage({ id: "b", content: "text" });
      const second = await put(saver, first, { messages: [a, text, human("c")] }, options);
      const edited = [human("b", "edited"), human("c", "edited")];
      await put(saver, second, { messages: [a, ...edited, human("d"), human("e")] }, options);
      await saver.flush(lease.thread_id, writer);
      const [b, c, d, e] = (await storage.listMessagesForSession(session_id)).slice(1);
      expect(b).toMatchObject({ content: "edited", model_used: "m", parent_id: "a" });
      expect(b).toMatchObject({ checkpoint_id: first.checkpoint.id });
      expect(c).toMatchObject({ content: "edited", parent_id: "b", checkpoint_id: second.checkpoint.id });
      expect([d?.parent_id, e?.parent_id]).toEqual(["c", "d"]);
      await expectRows(storage, session_id, ["a", "b", "c", "d", "e"]);
    });

    test("a new one follows the last of the conversation, though that has left the state and others are edited", async ({
      storage,
    }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const [a, b, c] = ["a", "b", "c"].map((one) => human(one));
      const first = await put(saver, thread_id, { messages: [a, b, c] });
      const fewer = await put(saver, first, { messages: [a, b] });
      await put(saver, fewer, { messages: [a, human("b", "edited"), human("d")] });
      await expectRows(storage, id, ["a", "b", "c", "d"]);
      expect(await storage.getMessage("d", { session_id: id })).toMatchObject({ parent_id: "c" });
    });

    test("come back unmarked, and in a new order when the state has one", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const [a, b, c] = ["a", "b", "c"].map((id) => human(id)) as [BaseMessage, BaseMessage, BaseMessage];
      let at = await put(saver, thread_id, { messages: [a, b] });
      for (const messages of [[b], [a, b], [b, a, c], [c], [c, a]]) {
        at = await put(saver, at, { messages });
        await expectRebuilt(storage, id);
      }
      const marked = (await storage.listMessagesForSession(id)).filter(({ metadata }) => metadata["summarized"]);
      expect(marked.map((message) => message.id)).toEqual(["b"]);
    });

    test("RemoveMessage of a graph marks them", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const graph = answering(saver);
      await graph.invoke({ messages: [human("q1")] }, threadConfig(thread_id));
      await graph.updateState(threadConfig(thread_id), { messages: [new RemoveMessage({ id: "q1" })] });
      await expectRows(storage, id, ["q1", "q1 call", "q1 result"]);
      expect(await storage.getMessage("q1", { session_id: id })).toMatchObject({ metadata: { summarized: true } });
    });

    test("show the branch that the head is on, forth and back", async ({ storage, second }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const root = await put(saver, thread_id, { messages: [human("a")] });
      const left = await put(saver, root, { messages: [human("a"), human("left")] });
      await expectRows(storage, id, ["a", "left"]);
      const right = await put(other, root, { messages: [human("a"), human("right")] });
      await expectRows(storage, id, ["a", "right"]);
      await put(saver, left, { messages: [human("a"), human("left"), human("more")] });
      await expectRows(storage, id, ["a", "left", "more"]);
      await put(saver, right, { messages: [human("a"), human("right"), human("more")] });
      await expectRows(storage, id, ["a", "right", "more"]);
    });

    test("a user's message that was accepted before its run keeps its row, id and time", async ({ storage }) => {
      const { id: session_id, thread_id } = await storage.createSession({});
      const { message } = await storage.createRun({ session_id, message: { id: "q", role: "user", content: "q" } });
      const saver = await storage.getCheckpointer();
      await answering(saver).invoke({ messages: [human("q")] }, threadConfig(thread_id));
      await expectRows(storage, session_id, ["q", "q call", "q result"]);
      const [row] = await storage.listMessagesForSession(session_id);
      expect(row).toMatchObject({ created_at: message?.created_at, run_id: message?.run_id });
    });

    test("an accepted message stays while its run waits, whatever the run before does, and when it is aborted", async (fixture) => {
      const { storage } = fixture;
      const { id: session_id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      await storage.createRun({ session_id, message: { id: "one", role: "user", content: "one" } });
      const { run } = await storage.createRun({ session_id, message: { id: "two", role: "user", content: "two" } });
      const first = await put(saver, thread_id, { messages: [human("one")] });
      await put(saver, first, { messages: [human("one"), human("answer")] });
      expect((await rowIds(storage, session_id)).toSorted()).toEqual(["answer", "one", "two"]);
      await storage.requestAbort(session_id, run.id);
      await put(saver, first, { messages: [human("one"), human("other")] });
      expect((await rowIds(storage, session_id)).toSorted()).toEqual(["one", "other", "two"]);
    });

    test("accepted messages that wait in line get their places as their runs put them into the state", async (fixture) => {
      const { storage } = fixture;
      const { id: session_id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      for (const id of ["q1", "q2", "q3"]) {
        await storage.createRun({ session_id, message: { id, role: "user", content: id } });
      }
      const ids: string[] = [];
      for (const waiting of [["q2", "q3"], ["q3"], []]) {
        const id = `q${3 - waiting.length}`;
        await answering(saver).invoke({ messages: [human(id)] }, threadConfig(thread_id));
        ids.push(id, `${id} call`, `${id} result`);
        await expectRows(storage, session_id, [...ids, ...waiting]);
      }
    });

    test("what a step has said before it ended is shown by a rebuild, and replaced by the checkpoint", async ({
      storage,
    }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const first = await put(saver, thread_id, { messages: [human("a")] });
      await saver.putWrites(first.config, [["messages", [new AIMessage("no id yet")]]], "task");
      expect(await storage.rebuildMessages(id)).toMatchObject({ ...UNTOUCHED, added: 1 });
      expect((await storage.listMessagesForSession(id)).map(({ content }) => content)).toEqual(["a", "no id yet"]);
      expect(await storage.rebuildMessages(id)).toMatchObject(UNTOUCHED);
      await put(saver, first, { messages: [human("a"), human("b")] });
      await expectRows(storage, id, ["a", "b"]);
    });

    test("what was said beside a question stays with the answer, in the same place", async ({ storage }) => {
      const { session_id, run_id, first } = await asking(storage);
      await storage.resumeRun(run_id, {});
      const saver = await storage.getCheckpointer();
      const messages = [human("a"), new AIMessage({ id: "beside", content: "said" }), human("b")];
      await put(saver, first, { messages }, leased(await claim(storage, { session_id })));
      await expectRows(storage, session_id, ["a", "beside", "b"]);
    });

    test("what was said beside a question goes when nobody answers it and the next run begins anew", async ({
      storage,
    }) => {
      const { session_id, first } = await asking(storage);
      await storage.requestAbort(session_id);
      await storage.createRun({ session_id, message: { id: "b", role: "user", content: "b" } });
      const saver = await storage.getCheckpointer();
      const messages = [human("a"), human("b")];
      await put(saver, first, { messages }, leased(await claim(storage, { session_id })));
      await expectRows(storage, session_id, ["a", "b"]);
    });

    test("a session whose thread has no checkpoint keeps its rows", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createMessage({ session_id, role: "user", content: "kept" });
      expect(await storage.rebuildMessages(session_id)).toEqual({ checked: 1, ...UNTOUCHED });
      expect(await storage.listMessagesForSession(session_id)).toHaveLength(1);
      await expect(storage.rebuildMessages("none")).rejects.toMatchObject({ code: "session_not_found" });
    });

    test("a rebuild keeps what no checkpoint ever held but somebody said: an accepted message, a row of no run", async ({
      storage,
    }) => {
      const { id: session_id, thread_id } = await storage.createSession({});
      await put(await storage.getCheckpointer(), thread_id, { messages: [human("a")] });
      await storage.createMessage({ id: "noted", session_id, role: "assistant", content: "noted by hand" });
      const message = { id: "accepted", role: "user" as const, content: "accepted" };
      await storage.createRun({ session_id, message });
      const claimed = await storage.claimRun({ owner: "w", lease_ms: 60_000 });
      const done = { event: "done" as const, data: { status: "failed", assistant_data: null, message_id: null } };
      if (claimed) await storage.finishRun(claimed, { status: "failed", events: [done] });
      expect(await storage.rebuildMessages(session_id)).toEqual({ checked: 3, ...UNTOUCHED });
      expect(await rowIds(storage, session_id)).toEqual(["a", "noted", "accepted"]);
    });

    test("a rebuild removes what a run is said to have said and no checkpoint holds, and keeps what only a row knows", async ({
      storage,
    }) => {
      const { id: session_id, thread_id } = await storage.createSession({});
      const said = (id: string) => ({
        session_id,
        message: { id, role: "user" as const, content: id, token_count: 5 },
      });
      const { run } = await storage.createRun(said("a"));
      await storage.finishRun(await claim(storage), endOf("failed"));
      // The first to come as far as a checkpoint.
      await storage.createRun(said("b"));
      const lease = await claim(storage);
      const saver = await storage.getCheckpointer();
      const configurable = { [LEASE]: { run_id: lease.run_id, epoch: lease.epoch } };
      await put(saver, thread_id, { messages: [human("a"), human("b")] }, { configurable });
      await storage.createMessage({ id: "x", session_id, role: "assistant", content: "of nobody", run_id: run.id });
      expect(await storage.rebuildMessages(session_id)).toEqual({ checked: 3, ...UNTOUCHED, removed: 1 });
      expect(await storage.listMessagesForSession(session_id)).toMatchObject([
        { id: "a", run_id: run.id, token_count: 5 },
        { id: "b", run_id: lease.run_id, token_count: 5 },
      ]);
    });

    test("deleted rows come back, and the head's state says in which order", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const first = await put(saver, thread_id, { messages: ["a", "b"].map((id) => human(id)) });
      await put(saver, first, { messages: ["b", "c"].map((id) => human(id)) });
      const before = await storage.listMessagesForSession(id);
      await storage.deleteMessagesForSession(id);
      expect(await storage.rebuildMessages(id)).toEqual({ checked: 0, repaired: 0, added: 3, removed: 0 });
      expect(await storage.listMessagesForSession(id)).toEqual(before);
      expect(await storage.getSession(id)).toMatchObject({ message_count: 3 });
    });

    test("stay what they were after a prune, those that had left the state too", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      let at = await put(saver, thread_id, { messages: ["a", "b"].map((id) => human(id)) });
      at = await put(saver, at, { messages: ["b", "c"].map((id) => human(id)) });
      at = await put(saver, at, { messages: ["c", "d"].map((id) => human(id)) });
      const before = await storage.listMessagesForSession(id);
      await saver.prune({ thread_id });
      expect(await storage.rebuildMessages(id)).toEqual({ checked: 4, ...UNTOUCHED });
      expect(await storage.listMessagesForSession(id)).toEqual(before);
      await put(saver, at, { messages: ["d", "e"].map((id) => human(id)) });
      await expectRows(storage, id, ["a", "b", "c", "d", "e"]);
    });

    test("whatever else a graph keeps under that name is no message, and no error", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      let at = await put(saver, thread_id, { messages: "text" });
      for (const messages of [[1, "two", { three: 3 }], { a: 1 }, null, [human("a"), { n: 1n }], undefined, []]) {
        at = await put(saver, at, { messages });
      }
      expect(await storage.rebuildMessages(id)).toMatchObject(UNTOUCHED);
      const odd = new AIMessage({ id: "odd", content: [{ type: "custom", value: 1n } as never] });
      at = await put(saver, at, { messages: [odd] });
      expect((await saver.getTuple(at.config))?.checkpoint.channel_values).toMatchObject({ messages: [{ id: "odd" }] });
    });
  });

  projectionModelContract(open);
  checkpointEventContract(open);
}

/** A run that waits for an answer; beside the question a task has said something. */
async function asking(storage: Storage) {
  const saver = await storage.getCheckpointer();
  const { session_id, lease } = await startRun(storage);
  const first = await put(saver, lease.thread_id, { messages: [human("a")] }, leased(lease));
  const config = { configurable: { ...first.config.configurable, ...leased(lease).configurable } };
  await saver.putWrites(config, [["messages", [new AIMessage({ id: "beside", content: "said" })]]], "task");
  await storage.suspendRun(lease, [], undefined, undefined, true);
  expect(await rowIds(storage, session_id)).toEqual(["a", "beside"]);
  return { session_id, run_id: lease.run_id, first };
}

function leased({ run_id, epoch }: WriterLease) {
  return { configurable: { [LEASE]: { run_id, epoch } } };
}
