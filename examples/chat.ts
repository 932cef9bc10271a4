/**
 * `npm start`: talk to a durable agent in the terminal. What is said and done is in `.cognition/state.db`: stop it, kill
 * it, start it again, and the conversation goes on. Ctrl-C stops what the agent is doing; once more, and it ends.
 */
import { hostname } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Interrupt, Session, StoredEvent } from "@cognition/contract";
import { compose, type Runtime } from "@cognition/server";
import { openStorage, type Storage } from "@cognition/thread";

const root = resolve(process.env["COGNITION_WORKSPACE_ROOT"] ?? ".");
const storage = await openStorage({ workspace: root });
const runtime = await compose({
  storage,
  workspace_root: root,
  state_database: resolve(root, ".cognition/state.db"),
  env: process.env,
  engine: { owner: hostname() },
  onError: (error) => console.error(`  (${error instanceof Error ? error.message : error})`),
});
runtime.engine.start();
const session = await latestSession(storage);
await greet(storage, runtime, session);

const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: process.stdin.isTTY });
terminal.on("SIGINT", () => void stop());
terminal.setPrompt("> ");
prompt();
for await (const line of terminal) {
  if (line.trim() !== "") await converse(line);
  prompt();
}
await end();

/** Input from a pipe may have ended while the agent was still answering it. */
function prompt(): void {
  if (process.stdin.isTTY) terminal.prompt();
}

/** The agent works on; a second Ctrl-C while nothing runs ends the program. */
async function stop(): Promise<void> {
  const aborted = await runtime.engine.abort(session.id);
  if (aborted.length === 0) terminal.close();
}

async function converse(content: string): Promise<void> {
  const message_id = crypto.randomUUID();
  const after = await storage.lastEventId(session.id);
  try {
    const { run } = await runtime.engine.submit({
      session_id: session.id,
      message: { id: message_id, role: "user", content },
      input: { kind: "message", message_id, content },
    });
    await show(run.id, after);
  } catch (error) {
    console.error(`  ${error instanceof Error ? error.message : error}`);
  }
}

/** Follows the run in the log, as any other reader would, to its end or to what it asks. */
async function show(run_id: string, from: number): Promise<void> {
  for await (const event of storage.followEvents({ session_id: session.id, after: from })) {
    if (event.run_id !== run_id) continue;
    print(event);
    if (event.event === "done") return;
    if (event.event === "interrupt") {
      const answers = await askFor(event.data.interrupts);
      await runtime.engine.answer(run_id, { kind: "answers", answers });
    }
  }
}

async function askFor(interrupts: readonly Interrupt[]): Promise<Record<string, object>> {
  const answers: Record<string, object> = {};
  for (const { id, tool_name, args } of interrupts) {
    const said = await terminal.question(`  allow ${tool_name} ${JSON.stringify(args)}? [y/N] `);
    answers[id] = { id, type: said.trim().toLowerCase().startsWith("y") ? "approve" : "reject" };
  }
  return answers;
}

function print({ event, data }: StoredEvent): void {
  if (event === "token") process.stdout.write(data.content);
  else if (event === "tool_call")
    process.stdout.write(`\n  · ${data.name} ${JSON.stringify(data.args).slice(0, 120)}\n`);
  else if (event === "tool_result" && data.outcome !== "ok")
    process.stdout.write(`    ${data.outcome}: ${data.output}\n`);
  else if (event === "delegation") process.stdout.write(`  → ${data.target_agent}\n`);
  else if (event === "error") process.stdout.write(`\n  ${data.code}: ${data.message}\n`);
  else if (event === "done") process.stdout.write(data.status === "succeeded" ? "\n" : `\n  (${data.status})\n`);
}

async function latestSession(from: Storage): Promise<Session> {
  const [latest] = await from.listSessions({ limit: 1 });
  return latest ?? (await from.createSession({ title: "Chat", workspace_path: "." }));
}

async function greet(from: Storage, { models, sandboxes }: Runtime, { message_count }: Session): Promise<void> {
  const { provider, model } = await models.select({});
  const offline = provider.provider === "offline";
  console.log("Cognition");
  console.log(`  storage  ${from.backend}, ${resolve(root, ".cognition/state.db")}`);
  console.log(`  sandbox  ${sandboxes.describe().backend}: commands run as you, in ${root}`);
  console.log(
    `  model    ${offline ? "offline, for trying things out. OPENAI_API_KEY or ANTHROPIC_API_KEY brings a real one" : `${model} (${provider.id})`}`,
  );
  console.log(
    message_count > 0
      ? `  This conversation has ${message_count} messages; it goes on.`
      : "  Try: List the files in this directory.",
  );
  console.log(
    "  Ctrl-C stops the agent, then the program. For production: PostgreSQL, an isolating sandbox. See README.md.\n",
  );
}

async function end(): Promise<void> {
  await runtime.close();
  await storage.close();
}
