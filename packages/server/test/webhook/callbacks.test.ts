import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Completion } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { compose, type Runtime } from "../../src/compose.ts";
import { defaultConfig } from "../../src/config.ts";
import { openReceiver, type Receiver } from "./receiver.ts";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const webhooks = { ...defaultConfig().webhooks, secrets: [secret], allow_addresses: ["127.0.0.1"] };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function start(storage: Storage, root: string, allow = webhooks.allow_addresses): Promise<Runtime> {
  const runtime = await compose({
    storage,
    workspace_root: root,
    env: { PATH: process.env["PATH"] },
    config: { ...defaultConfig(), webhooks: { ...webhooks, allow_addresses: allow } },
    engine: { poll_ms: 20 },
    onError: () => undefined,
  });
  cleanups.push(() => runtime.close(0));
  return runtime;
}

async function open(agent_name = "default") {
  const dir = createTempDir();
  mkdirSync(join(dir.path, ".cognition/agents"), { recursive: true });
  const careful = "---\nname: careful\ndescription: Asks.\ninterrupt_on:\n  execute: true\n---\nYou are careful.\n";
  writeFileSync(join(dir.path, ".cognition/agents/careful.md"), careful);
  const storage = await openStorage("memory");
  cleanups.push(
    () => dir.remove(),
    () => storage.close(),
  );
  const runtime = await start(storage, dir.path);
  const session = await storage.createSession({ agent_name });
  const send = async (content: string, callback_url: string, more: object = {}) => {
    const message_id = crypto.randomUUID();
    const message = { id: message_id, role: "user" as const, content };
    const input = { kind: "message", message_id, content, ...more };
    return (await runtime.engine.submit({ session_id: session.id, callback_url, message, input })).run;
  };
  return { storage, runtime, session, send };
}

/** What the receiver was told so far, each checked as a receiver would. */
function told({ received }: Receiver): Completion[] {
  return received.map(({ headers, body }) =>
    Completion.parse(new Webhook(secret).verify(body, headers as Record<string, string>)),
  );
}

const untilTold = (receiver: Receiver, count: number) =>
  expect.poll(() => told(receiver), { timeout: 50_000 }).toHaveLength(count);

describe("a message with a callback_url", () => {
  it("is told of when its run has ended, with what it came to", async () => {
    await using receiver = await openReceiver();
    const { storage, runtime, session, send } = await open();
    runtime.start();
    const run = await send("Hello, who are you?", receiver.url);
    await untilTold(receiver, 1);
    const { messages } = await storage.getMessagesBySession(session.id, { role: "assistant" });
    const { usage } = await storage.getRun(run.id);
    expect(told(receiver)).toEqual([
      {
        session_id: session.id,
        message_id: messages[0]?.id,
        status: "done",
        output: messages[0]?.content,
        token_usage: { input: usage?.input_tokens, output: usage?.output_tokens },
        model_used: "offline",
        completed_at: expect.stringMatching(/Z$/),
      },
    ]);
  });

  it("is told of when it waits for a human, and again at its end, with the usage of both parts", async () => {
    await using receiver = await openReceiver();
    const { storage, runtime, send } = await open("careful");
    runtime.start();
    const { id: run_id, session_id } = await send("Run the command: echo hi", receiver.url);
    await untilTold(receiver, 1);
    const { events } = await storage.readEvents({ session_id, types: ["interrupt"] });
    const { interrupts = [] } = (events[0]?.data ?? {}) as { interrupts?: { id: string }[] };
    const id = interrupts[0]?.id ?? "";
    await runtime.engine.answer(run_id, { kind: "answers", answers: { [id]: { id, type: "approve" } } });
    await untilTold(receiver, 2);
    const [waiting, done] = told(receiver);
    expect(waiting).toMatchObject({ status: "waiting", output: null, message_id: null });
    expect(done).toMatchObject({ status: "done" });
    expect(waiting?.token_usage.input).toBeGreaterThan(0);
    expect(done?.token_usage.input).toBeGreaterThan(waiting?.token_usage.input ?? 0);
  });

  it("is told of when it failed, and why", async () => {
    await using receiver = await openReceiver();
    const { storage, runtime, session } = await open();
    runtime.start();
    const input = { kind: "continue" };
    await runtime.engine.submit({ session_id: session.id, callback_url: receiver.url, agent_revision: "gone", input });
    await untilTold(receiver, 1);
    expect(told(receiver)).toMatchObject([{ status: "error", output: null, error: { code: "agent_not_found" } }]);
    // The row says so once the answer was read, which is after the receiver had the request.
    const deliveries = () => storage.listDeliveries({ session_id: session.id });
    await expect.poll(deliveries).toMatchObject([{ status: "delivered" }]);
  });

  it("is told of when it was aborted before it began", async () => {
    await using receiver = await openReceiver();
    const { runtime, session, send } = await open();
    await send("Hello", receiver.url);
    await runtime.engine.abort(session.id);
    runtime.start();
    await untilTold(receiver, 1);
    expect(told(receiver)).toMatchObject([{ status: "aborted", output: null }]);
  });

  it.each([
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://localhost:3000/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://10.1.2.3/",
    "http://user:pw@example.com/",
  ])("to %s is refused before anything is stored", async (url) => {
    const { storage, session } = await open();
    const dir = createTempDir();
    cleanups.push(() => dir.remove());
    const { engine } = await start(storage, dir.path, []);
    const refused = engine.submit({ session_id: session.id, callback_url: url, input: {} });
    await expect(refused).rejects.toMatchObject({ code: "callback_url_refused" });
    expect(await storage.listRuns(session.id)).toEqual([]);
  });
});

it("a node killed between a run's end and its callback: the next one delivers it, under the id it had", {
  tags: "long",
}, async () => {
  await using receiver = await openReceiver();
  const dir = createTempDir();
  cleanups.push(() => dir.remove());
  const uri = join(dir.path, "state.db");
  const program = fileURLToPath(new URL("../children/end-run.ts", import.meta.url));
  const input = JSON.stringify({ uri, root: dir.path, url: receiver.url });
  const args = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning", program, input];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  child.kill("SIGKILL");
  await once(child, "close");
  const { session_id, run_id } = JSON.parse(line) as { session_id: string; run_id: string };

  const storage = await openStorage(uri);
  cleanups.push(() => storage.close());
  const [owed] = await storage.listDeliveries({ session_id });
  expect(owed).toMatchObject({ run_id, status: "pending", attempts: [] });
  const runtime = await start(storage, dir.path);
  runtime.start();
  await untilTold(receiver, 1);
  expect(receiver.received[0]?.headers["webhook-id"]).toBe(owed?.id);
});
