import { randomUUID } from "node:crypto";
import { AppError } from "@cognition/contract";
import type { ExecuteOptions, ExecuteResult, RunningCommand } from "../sandbox.ts";
import { type ProcessEnd, type ProcessStart, runProcess } from "./run-process.ts";

/** A command made ready: a process to start, or what it comes to without one. */
export type PreparedCommand =
  | { readonly type: "process"; readonly start: ProcessStart; readonly release: () => Promise<void> }
  | { readonly type: "ended"; readonly exit_code: number; readonly output: string };

export interface CommandRunnerOptions {
  /** Throws what `execute` promises to reject with before anything runs. */
  readonly prepare: (command: string, options: ExecuteOptions) => PreparedCommand | Promise<PreparedCommand>;
  readonly timeout_ms: number;
  readonly outputBytes: number;
  readonly now: () => number;
}

export interface CommandRunner {
  execute(command: string, options?: ExecuteOptions): Promise<ExecuteResult>;
  running(): readonly RunningCommand[];
  /** Kills what runs, and waits for it; later commands are refused with the same reason. */
  stop(reason: AppError): Promise<void>;
}

/** What every back end does alike with a command, whatever it starts. */
export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  const commands = new Map<string, RunningCommand & { readonly ended: Promise<unknown> }>();
  const stopped = new AbortController();

  return {
    async execute(command, execution = {}) {
      checkOptions(command, execution);
      stopped.signal.throwIfAborted();
      execution.signal?.throwIfAborted();
      const id = execution.id ?? randomUUID();
      if (commands.has(id)) throw idInUse(id);
      const signal = execution.signal ? AbortSignal.any([execution.signal, stopped.signal]) : stopped.signal;
      const ended = run(command, { ...execution, signal }, options);
      commands.set(id, { id, command, started_at: new Date(options.now()).toISOString(), ended });
      try {
        return { id, ...(await ended) };
      } finally {
        commands.delete(id);
      }
    },
    running: () => [...commands.values()].map(({ ended: _, ...command }) => command),
    async stop(reason) {
      stopped.abort(reason);
      await Promise.allSettled([...commands.values()].map(({ ended }) => ended));
    },
  };
}

async function run(command: string, execution: ExecuteOptions, options: CommandRunnerOptions): Promise<ProcessEnd> {
  const { signal, stdin, onOutput } = execution;
  const prepared = await options.prepare(command, execution);
  if (prepared.type === "ended") {
    const { output, exit_code } = prepared;
    onOutput?.(output);
    return { output, exit_code, truncated: false, timed_out: false, duration_ms: 0 };
  }
  const timeout_ms = Math.min(execution.timeout_ms ?? options.timeout_ms, options.timeout_ms);
  try {
    const watch = { timeout_ms, outputBytes: options.outputBytes, signal, onOutput };
    return await runProcess({ ...prepared.start, stdin }, watch);
  } finally {
    await prepared.release();
  }
}

function checkOptions(command: string, { timeout_ms, env = {} }: ExecuteOptions): void {
  if (command.includes("\0")) throw invalid("The command holds a NUL character, which no program can be given.");
  if (timeout_ms !== undefined && !(timeout_ms > 0)) throw invalid(`timeout_ms must be above 0; it is ${timeout_ms}.`);
  for (const [name, value] of Object.entries(env))
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes("\0"))
      throw invalid(`The environment variable "${name}" has a name or value that cannot be passed to a program.`);
}

function invalid(message: string): AppError {
  return new AppError("validation_failed", `${message} Nothing was run.`);
}

function idInUse(id: string): AppError {
  return new AppError("already_exists", `A command with the id "${id}" is running in this sandbox. Nothing was run.`, {
    details: { id },
  });
}
