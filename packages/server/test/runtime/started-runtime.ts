import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Decision, Session, StoredEvent } from "@cognition/contract";
import { type NewSession, openStorage, type Storage } from "@cognition/thread";
import { onTestFinished } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { type ComposeOptions, compose, type Runtime } from "../../src/compose.ts";
import type { RunInput } from "../../src/run/run-input.ts";

export interface Started {
  storage: Storage;
  runtime: Runtime;
  session: Session;
  /** The workspace's root, with `.cognition` in it. */
  root: string;
  /** The session's own folder. */
  folder: string;
  errors: unknown[];
}

export interface StartOptions extends Partial<ComposeOptions> {
  session?: NewSession;
  /** Relative to the root. */
  files?: Record<string, string>;
}

/** A whole server without HTTP, on memory, and a session on it, until the test ends. */
export async function startRuntime({ session, files = {}, ...options }: StartOptions = {}): Promise<Started> {
  const dir = createTempDir();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir.path, file)), { recursive: true });
    writeFileSync(join(dir.path, file), text);
  }
  const errors: unknown[] = [];
  const storage = options.storage ?? (await openStorage("memory"));
  onTestFinished(async () => {
    await storage.close();
    dir.remove();
  });
  const runtime = await compose({
    workspace_root: dir.path,
    env: { PATH: process.env["PATH"] },
    engine: { poll_ms: 20 },
    onError: (error) => errors.push(error),
    ...options,
    storage,
  });
  onTestFinished(() => runtime.close(0));
  runtime.engine.start();
  const made = await storage.createSession({ workspace_path: "work", ...session });
  return { storage, runtime, session: made, root: dir.path, folder: join(dir.path, "work"), errors };
}

type MessageInput = Partial<Extract<RunInput, { kind: "message" }>>;

/** Accepts a message, and gives its run. */
export async function send({ runtime, session }: Started, content: string, more: MessageInput = {}): Promise<string> {
  const message_id = crypto.randomUUID();
  const { run } = await runtime.engine.submit({
    session_id: session.id,
    message: { id: message_id, role: "user", content },
    input: { kind: "message", message_id, content, ...more },
  });
  return run.id;
}

/** Sends a message and gives the events of its run, up to its end or its question. */
export async function say(started: Started, content: string, more: MessageInput = {}): Promise<StoredEvent[]> {
  const after = await started.storage.lastEventId(started.session.id);
  return eventsOf(started, await send(started, content, more), after);
}

export async function answer(
  started: Started,
  asked: readonly StoredEvent[],
  decision: Omit<Decision, "id">,
): Promise<StoredEvent[]> {
  const after = await started.storage.lastEventId(started.session.id);
  const run_id = asked[0]?.run_id ?? "";
  const answers = Object.fromEntries(interruptsIn(asked).map(({ id }) => [id, { id, ...decision }]));
  await started.runtime.engine.answer(run_id, { kind: "answers", answers });
  return eventsOf(started, run_id, after);
}

export function interruptsIn(events: readonly StoredEvent[]): { id: string; [key: string]: unknown }[] {
  return (dataOf(events, "interrupt").at(-1)?.["interrupts"] ?? []) as { id: string }[];
}

export async function eventsOf({ storage, session }: Started, run_id: string, after = 0): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  const signal = AbortSignal.timeout(50_000);
  for await (const event of storage.followEvents({ session_id: session.id, after, signal })) {
    if (event.run_id === run_id) events.push(event);
    if (event.run_id === run_id && (event.event === "done" || event.event === "interrupt")) return events;
  }
  throw new Error(`the run did not end: ${events.map(({ event }) => event).join(" ")}`);
}

export function dataOf(events: readonly StoredEvent[], type: StoredEvent["event"]): Record<string, unknown>[] {
  return events.filter(({ event }) => event === type).map(({ data }) => data as Record<string, unknown>);
}
