import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@cognition/contract/app-error";
import { messageOf } from "../../file/error-text.ts";
import type { CommandEnd } from "../command-host.ts";
import type { Cgroup } from "./cgroup.ts";
import { type CommandOutput, createCommandOutput } from "./command-output.ts";
import { createProcessTree, notKilled, type ProcessTree } from "./process-tree.ts";
import { signalNumber } from "./signal-number.ts";

export interface ProcessStart {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array | undefined;
  /** Texts that the process reads from its descriptors 3, 4 … */
  readonly inputs?: readonly string[];
  readonly mark?: number | undefined;
  readonly cgroup?: Cgroup | undefined;
}

export interface ProcessWatch {
  readonly timeout_ms: number;
  readonly outputBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: ((text: string) => void) | undefined;
  /** As soon as there is a process. If it throws, the process is killed, and that is what came of it. */
  readonly onStart?: ((pid: number) => void) | undefined;
}

/** What ended the wait. */
type Cause =
  | { readonly type: "exit"; readonly exit_code: number }
  | { readonly type: "timeout" }
  | { readonly type: "abort" }
  | { readonly type: "failure"; readonly error: unknown };

/** Together with KILL_MS less than the 2 s in which an aborted command must be dead. */
const TERMINATE_MS = 250;
const KILL_MS = 1_500;
/** By then nobody holds the pipes any more, or somebody who is none of ours: the rest of the output is given up. */
const DRAIN_MS = 1_000;
/** A larger delay fires at once in Node. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a process in a session of its own, and resolves when it and all it started are gone. */
export async function runProcess(start: ProcessStart, watch: ProcessWatch): Promise<CommandEnd> {
  watch.signal?.throwIfAborted();
  const began = performance.now();
  const output = createCommandOutput({ limitBytes: watch.outputBytes, onOutput: watch.onOutput });
  const child = spawn(start.argv[0], start.argv.slice(1), {
    cwd: start.cwd,
    env: start.env,
    detached: true,
    stdio: [
      start.stdin === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...(start.inputs ?? []).map(() => "pipe" as const),
    ],
  });
  const drained = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const cause = waitForCause(child, output, watch);
  if (child.pid === undefined) throw startFailed(start, await cause);
  const tree = createProcessTree({ pid: child.pid, mark: start.mark, cgroup: start.cgroup });
  feed(child, start);
  const ended = await cause;
  await endTree(child, tree, ended);
  if (ended.type === "exit" || ended.type === "timeout") await Promise.race([drained, giveUp()]);
  for (const stream of child.stdio) stream?.destroy();
  return report(ended, output, watch, performance.now() - began);
}

/** After a pause of the event loop timers come before what has arrived in the pipes: that is read first. */
async function giveUp(): Promise<void> {
  await delay(DRAIN_MS, undefined, { ref: false });
  await new Promise((resolve) => setImmediate(resolve));
}

function waitForCause(child: ChildProcess, output: CommandOutput, watch: ProcessWatch): Promise<Cause> {
  const { promise, resolve } = Promise.withResolvers<Cause>();
  const timer = setTimeout(() => resolve({ type: "timeout" }), Math.min(watch.timeout_ms, MAX_TIMER_MS));
  const onAbort = () => resolve({ type: "abort" });
  watch.signal?.addEventListener("abort", onAbort, { once: true });
  for (const stream of [child.stdout, child.stderr]) {
    const add = output.stream();
    stream?.once("error", (error) => resolve({ type: "failure", error }));
    stream?.on("data", (chunk: Buffer) => {
      try {
        add(chunk);
      } catch (error) {
        resolve({ type: "failure", error });
      }
    });
  }
  child.once("spawn", () => {
    try {
      if (child.pid !== undefined) watch.onStart?.(child.pid);
    } catch (error) {
      resolve({ type: "failure", error });
    }
  });
  child.once("error", (error) => resolve({ type: "failure", error }));
  child.once("exit", (code, signal) => resolve({ type: "exit", exit_code: code ?? 128 + signalNumber(signal) }));
  return promise.finally(() => {
    clearTimeout(timer);
    watch.signal?.removeEventListener("abort", onAbort);
  });
}

function feed(child: ChildProcess, { stdin, inputs = [] }: ProcessStart): void {
  const texts = [stdin, undefined, undefined, ...inputs];
  child.stdio.forEach((stream, index) => {
    const text = texts[index];
    if (text === undefined || !stream || !("end" in stream)) return;
    // A command need not read its input to the end; how it ended is told by its exit code.
    stream.on("error", () => {});
    stream.end(text);
  });
}

async function endTree(child: ChildProcess, tree: ProcessTree, cause: Cause): Promise<void> {
  if (cause.type !== "exit") {
    tree.terminate();
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    if (child.exitCode === null && child.signalCode === null) await Promise.race([gone, delay(TERMINATE_MS)]);
  }
  const left = await tree.kill(KILL_MS);
  if (left.length > 0) throw notKilled(left);
}

function report(cause: Cause, output: CommandOutput, watch: ProcessWatch, duration: number): CommandEnd {
  if (cause.type === "abort") throw watch.signal?.reason;
  if (cause.type === "failure") throw cause.error;
  const end = { ...output.end(), duration_ms: Math.round(duration) };
  if (cause.type === "timeout") return { ...end, exit_code: null, timed_out: true };
  return { ...end, exit_code: cause.exit_code, timed_out: false };
}

function startFailed(start: ProcessStart, cause: Cause): unknown {
  if (cause.type !== "failure") return new AppError("tool_failed", "The command could not be started.");
  const reason = messageOf(cause.error);
  return new AppError("tool_failed", `The command could not be started: ${reason}. Nothing was run.`, {
    details: { file: start.argv[0] },
    cause: cause.error,
  });
}
