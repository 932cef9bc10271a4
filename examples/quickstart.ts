/**
 * `npm run demo`: an agent's state outlives its process. A child process works through a job and is killed with SIGKILL
 * in the middle; this process goes on where it stood, branches off an earlier point, and shows what is stored.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openStorage, type Storage } from "@cognition/thread";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const STEPS = 8;
const KILL_AFTER = 4;

/** Any LangGraph graph will do, unchanged. This one counts to eight, and takes its time. */
async function openJob(storage: Storage, takeTime = (_step: number) => delay(60)) {
  const checkpointer = await storage.getCheckpointer();
  return new StateGraph(MessagesAnnotation)
    .addNode("work", async ({ messages }) => {
      await takeTime(messages.length);
      return { messages: [new AIMessage(`step ${messages.length} of ${STEPS}`)] };
    })
    .addEdge(START, "work")
    .addConditionalEdges("work", ({ messages }) => (messages.length > STEPS ? END : "work"))
    .compile({ checkpointer });
}

function configFor(thread_id: string) {
  return { configurable: { thread_id }, durability: "sync" as const };
}

/** The process that will not live to see the end. */
async function workUntilKilled(file: string, thread_id: string): Promise<void> {
  const storage = await openStorage(file);
  const job = await openJob(storage, (step) => {
    if (step <= KILL_AFTER) return delay(60);
    say(`    child: in the middle of step ${step}`);
    return delay(3_600_000);
  });
  const input = { messages: [new HumanMessage("Count to eight.")] };
  for await (const step of await job.stream(input, configFor(thread_id))) {
    say(`    child: ${step.work?.messages?.at(-1)?.content}`);
  }
}

async function startAndKill(file: string, thread_id: string): Promise<void> {
  const node = ["--conditions=cognition-source", import.meta.filename, file, thread_id];
  const child = spawn(process.execPath, node, { stdio: ["ignore", "pipe", "inherit"] });
  let lines = 0;
  child.stdout.on("data", (text: Buffer) => {
    process.stdout.write(text);
    lines += text.toString().split("\n").length - 1;
    if (lines > KILL_AFTER) child.kill("SIGKILL");
  });
  await once(child, "close");
}

function say(line = ""): void {
  process.stdout.write(`${line}\n`);
}

async function show(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "cognition-"));
  const file = join(folder, "state.db");
  try {
    say("Cognition: the Thread library");
    say(`  storage  SQLite, synchronous=FULL, ${file}`);
    say("  model    none: this example runs a plain LangGraph graph");
    say();
    const storage = await openStorage(file);
    const session = await storage.createSession({ title: "Count to eight" });
    say("1. A child process starts the job. It is killed with SIGKILL in the middle.");
    await startAndKill(file, session.thread_id);

    say("2. This process goes on where the other one stood.");
    const job = await openJob(storage);
    const config = configFor(session.thread_id);
    const { values } = await job.getState(config);
    say(`    kept: ${values.messages.length} messages, the last says "${values.messages.at(-1).content}"`);
    for await (const step of await job.stream(null, config)) say(`    here:  ${step.work?.messages?.at(-1)?.content}`);

    say("3. Another thread branches off at the third step. It shares what is stored.");
    const history = [];
    for await (const state of job.getStateHistory(config)) history.push(state);
    const earlier = history.find((state) => state.values.messages?.length === 4);
    const checkpointer = await storage.getCheckpointer();
    await checkpointer.copyThread(session.thread_id, "branch", {
      checkpoint_id: earlier?.config.configurable?.checkpoint_id,
    });
    await job.invoke({ messages: [new HumanMessage("And now something else.")] }, configFor("branch"));
    const branch = (await job.getState(configFor("branch"))).values.messages;
    say(`    the branch: ${branch.map((message: AIMessage) => message.content).join(" | ")}`);

    const rows = await storage.listMessagesForSession(session.id);
    say("4. The session's messages are rows that anyone can read; they follow the checkpoints, in the same commit.");
    say(`    ${rows.map((message) => message.role).join(", ")}`);
    const [whole, more] = [await checkpointer.threadSize(session.thread_id), await checkpointer.threadSize("branch")];
    say(`    ${whole} bytes for the thread, and ${more} more for the branch`);
    await storage.close();
    say();
    say("Next: docs/guide/library.md (use it in your own LangGraph app), docs/bench/checkpoint.md (what it costs).");
    say('For production: openStorage("postgresql://…"), the same program.');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [file, thread_id] = process.argv.slice(2);
await (file && thread_id ? workUntilKilled(file, thread_id) : show());
