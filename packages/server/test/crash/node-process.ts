import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { NodeInput, Order, Said } from "./orders.ts";

export interface NodeProcess {
  begin(order: Order): void;
  /** Resolves when it has said so, rejects if it ended before. */
  heard(what: "ready" | "accepted" | "idle" | "leaving"): Promise<void>;
  signal(name: "SIGKILL" | "SIGTERM"): void;
  /** What went wrong in its runs, by its own account. */
  readonly errors: readonly Extract<Said, { error: string }>[];
  ended: Promise<{ signal: string | null; code: number | null; stderr: string }>;
}

const PROGRAM = fileURLToPath(new URL("./run-node.ts", import.meta.url));

/** `cache` is where Node keeps compiled code: most of a node's life would be loading otherwise. */
export function startNode(input: NodeInput, cache: string): NodeProcess {
  const args = [
    "--conditions=cognition-source",
    "--disable-warning=ExperimentalWarning",
    PROGRAM,
    JSON.stringify(input),
  ];
  const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: cache };
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  const errors: Extract<Said, { error: string }>[] = [];
  const said = {
    ready: Promise.withResolvers<void>(),
    accepted: Promise.withResolvers<void>(),
    idle: Promise.withResolvers<void>(),
    leaving: Promise.withResolvers<void>(),
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const heard = JSON.parse(line) as Said;
    if ("error" in heard) errors.push(heard);
    for (const [name, { resolve }] of Object.entries(said)) if (name in heard) resolve();
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => undefined); // it died before it read its order; `ended` tells
  const ended = once(child, "close").then(([code, signal]) => {
    for (const [name, { reject }] of Object.entries(said))
      reject(new Error(`a node ended (${signal ?? code}) before it was ${name}: ${stderr}`));
    return { code, signal, stderr };
  });
  for (const { promise } of Object.values(said)) promise.catch(() => undefined); // told to whoever waits
  return {
    begin: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    heard: (what) => said[what].promise,
    signal: (name) => void child.kill(name),
    errors,
    ended,
  };
}
