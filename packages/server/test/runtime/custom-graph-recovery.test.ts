import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { importThreads, openStorage, type Storage } from "@cognition/thread";
import { AIMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { compose } from "../../src/compose.ts";
import { answer, dataOf, eventsOf, interruptsIn, type Started } from "./started-runtime.ts";

const GRAPH = join(import.meta.dirname, "children/crash-graph.ts");
const LONG = { timeout: 60_000, tags: "long" };
let dir: TempDir;
beforeEach(() => {
  dir = createTempDir();
});
afterEach(() => dir.remove());

const uri = () => `sqlite://${join(dir.path, "state.db")}`;
const ledger = () => join(dir.path, "ledger");
const open = (storage: Storage, graphs: Record<string, string | object>) =>
  compose({
    storage,
    workspace_root: dir.path,
    env: { PATH: process.env["PATH"] },
    graphs,
    engine: { lease_ms: 60_000, poll_ms: 20 },
    onError: () => undefined,
  });

async function accept(storage: Storage, runtime: Started["runtime"], context = {}) {
  const session = await storage.createSession({ agent_name: "own", workspace_path: "work" });
  const message_id = crypto.randomUUID();
  const { run } = await runtime.engine.submit({
    session_id: session.id,
    message: { id: message_id, role: "user", content: "pay" },
    input: { kind: "message", message_id, content: "pay", context },
  });
  return { session, run_id: run.id };
}

/** Accepts a message, has another process work on it, and kills that one in the middle of its tool; then goes on, or aborts. */
async function killInTool(wrapped: boolean, aborts = false) {
  const storage = await openStorage(uri());
  const runtime = await open(storage, { own: `${GRAPH}#graph` });
  const { session, run_id } = await accept(storage, runtime, { ledger: ledger(), wrapped });
  const program = join(import.meta.dirname, "children/run-graph.ts");
  const args = [
    "--conditions=cognition-source",
    "--disable-warning=ExperimentalWarning",
    program,
    uri(),
    dir.path,
    GRAPH,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const told = () => storage.readEvents({ session_id: session.id, types: ["tool_call"] });
  await expect.poll(async () => (await told()).events.length).toBe(1);
  child.kill("SIGKILL");
  await once(child, "close");
  if (aborts) await runtime.engine.abort(session.id);
  runtime.engine.start();
  const events = await eventsOf({ storage, session } as Started, run_id);
  await runtime.close(0);
  const messages = await storage.listMessagesForSession(session.id);
  await storage.close();
  return { events, messages, lines: readFileSync(ledger(), "utf8").trim().split("\n") };
}

it("goes on at the node that was killed; a tool in the journal is not run again", LONG, async () => {
  const { events, messages, lines } = await killInTool(true);
  expect(lines).toEqual(["first", "pay", "charge", "pay", "last"]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "unknown" }]);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(String(messages[1]?.content)).toContain("outcome_unknown");
});

it("a tool that is not in the journal runs at least once", LONG, async () => {
  const { lines, messages } = await killInTool(false);
  expect(lines).toEqual(["first", "pay", "charge", "pay", "charge", "last"]);
  expect(messages[1]).toMatchObject({ role: "assistant", content: "charged" });
});

it(
  "of such a tool nobody knows what it did where the run is aborted before anybody goes on with it",
  LONG,
  async () => {
    const { events, lines } = await killInTool(false, true);
    expect(lines).toEqual(["first", "pay", "charge"]);
    expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "unknown" }]);
  },
);

it("is handed over between two steps, and no node runs twice", async () => {
  const ran: string[] = [];
  const gate = Promise.withResolvers<void>();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("one", async () => {
      ran.push("one");
      await gate.promise;
      return {};
    })
    .addNode("two", () => {
      ran.push("two");
      return { messages: [new AIMessage("done")] };
    })
    .addEdge(START, "one")
    .addEdge("one", "two")
    .compile();
  const storage = await openStorage(uri());
  const first = await open(storage, { own: graph });
  first.engine.start();
  const { session, run_id } = await accept(storage, first);
  await expect.poll(() => ran).toEqual(["one"]);
  const closing = first.close(50_000);
  gate.resolve();
  await closing;
  expect(await storage.getRun(run_id)).toMatchObject({ status: "queued" });
  expect(ran).toEqual(["one"]);
  const second = await open(storage, { own: graph });
  second.engine.start();
  expect(dataOf(await eventsOf({ storage, session } as Started, run_id), "done")).toMatchObject([
    { status: "succeeded", assistant_data: { content: "done" } },
  ]);
  expect(ran).toEqual(["one", "two"]);
  await second.close(0);
  await storage.close();
});

it("is handed over in the middle of a step, and the node beside it that has done its work does not run again", async () => {
  const ran: string[] = [];
  const hurry = Promise.withResolvers<void>();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("quick", () => {
      ran.push("quick");
      setImmediate(hurry.resolve);
      return {};
    })
    .addNode("slow", async (_state, { signal }) => {
      ran.push("slow");
      if (ran.length > 2) return { messages: [new AIMessage("done")] };
      await once(signal as AbortSignal, "abort");
      throw new Error("was stopped");
    })
    .addEdge(START, "quick")
    .addEdge(START, "slow")
    .compile();
  const storage = await openStorage(uri());
  const first = await open(storage, { own: graph });
  first.engine.start();
  const { session, run_id } = await accept(storage, first);
  await hurry.promise;
  await first.close(0);
  const second = await open(storage, { own: graph });
  second.engine.start();
  expect(dataOf(await eventsOf({ storage, session } as Started, run_id), "done")).toMatchObject([
    { status: "succeeded", assistant_data: { content: "done" } },
  ]);
  expect(ran).toEqual(["quick", "slow", "slow"]);
  await second.close(0);
  await storage.close();
});

it("is handed over before its first step if the node leaves while it is being opened", async () => {
  const ran: string[] = [];
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("one", () => {
      ran.push("one");
      return { messages: [new AIMessage("done")] };
    })
    .addEdge(START, "one")
    .compile();
  const storage = await openStorage(uri());
  const opening = Promise.withResolvers<void>();
  let claims = 0;
  const slow: Storage = {
    ...storage,
    tasks: { ...storage.tasks, findTask: (...of) => opening.promise.then(() => storage.tasks.findTask(...of)) },
    claimRun: async (claim) => {
      const claimed = claims++ === 0 ? await storage.claimRun(claim) : null;
      return claimed && { ...claimed, session: { ...claimed.session, has_task: true } }; // so that it is looked for
    },
  };
  const first = await open(slow, { own: graph });
  const second = await open(storage, { own: graph });
  const { session, run_id } = await accept(storage, second);
  first.engine.start();
  await expect.poll(() => first.engine.active).toEqual([run_id]);
  const closing = first.close(50_000);
  await expect.poll(() => first.engine.draining).toBe(true);
  setImmediate(opening.resolve); // by then its runs have been told, since it claims nothing any more
  await closing;
  expect(await storage.getRun(run_id)).toMatchObject({ status: "queued" });
  expect(ran).toEqual([]);
  second.engine.start();
  expect(dataOf(await eventsOf({ storage, session } as Started, run_id), "done")).toMatchObject([
    { status: "succeeded", assistant_data: { content: "done" } },
  ]);
  expect(ran).toEqual(["one"]);
  await second.close(0);
  await storage.close();
});

it("a question of a thread that came from another checkpointer is asked here, and answered", async () => {
  const build = () =>
    new StateGraph(MessagesAnnotation)
      .addNode("ask", () => ({ messages: [new AIMessage(`heard ${interrupt("Well?")}`)] }))
      .addEdge(START, "ask");
  const theirs = new MemorySaver();
  const before = build().compile({ checkpointer: theirs });
  await before.invoke({ messages: ["hi"] }, { configurable: { thread_id: "old" } });
  const storage = await openStorage("memory");
  const session = await storage.createSession({ thread_id: "old", agent_name: "own", workspace_path: "work" });
  await importThreads(theirs, await storage.getCheckpointer());
  const runtime = await open(storage, { own: build().compile() });
  runtime.engine.start();
  const { run } = await runtime.engine.submit({ session_id: session.id, input: { kind: "continue" } });
  const started = { storage, session, runtime } as Started;
  const asked = await eventsOf(started, run.id);
  expect(interruptsIn(asked)).toMatchObject([{ value: "Well?" }]);
  const done = await answer(started, asked, { type: "respond", value: "yes" });
  expect(dataOf(done, "done")).toMatchObject([{ assistant_data: { content: "heard yes" } }]);
  const rows = await storage.listMessagesForSession(session.id);
  expect(rows.map(({ content }) => content)).toEqual(["hi", "heard yes"]);
  await runtime.close(0);
  await storage.close();
});
