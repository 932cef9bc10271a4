import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Order, Said, WriterInput } from "./orders.ts";

export interface WriterProcess {
  /** Has loaded, and waits for its order. */
  ready: Promise<void>;
  begin(order: Order): void;
  /** What it said next; rejects with its error output if it ended instead. */
  next(): Promise<Said>;
  kill(): Promise<void>;
  /** How it came to its end. */
  ended: Promise<{ killed: boolean; errors: string }>;
}

const PROGRAM = fileURLToPath(new URL("./writer.ts", import.meta.url));

/** `cache` is where Node keeps compiled code: most of a writer's life would be loading otherwise. */
export function startWriter(input: WriterInput, cache: string): WriterProcess {
  const args = [
    "--conditions=cognition-source",
    "--disable-warning=ExperimentalWarning",
    PROGRAM,
    JSON.stringify(input),
  ];
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = endOf(child);

  async function next(): Promise<Said> {
    const line = await lines.next();
    if (line.done) throw new Error(`a writer ended without an answer: ${(await ended).errors}`);
    return JSON.parse(line.value);
  }

  const ready = next().then(() => undefined);
  // Whoever waits for it sees the failure; a writer that is killed before anyone did is no failure.
  ready.catch(() => undefined);
  child.stdin.on("error", () => undefined); // it died before it read its order; `ended` tells
  return {
    ready,
    next,
    ended,
    begin: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function endOf(child: ChildProcessByStdio<Writable, Readable, Readable>) {
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  return { killed: signal === "SIGKILL", errors };
}
