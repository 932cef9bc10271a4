import { randomUUID } from "node:crypto";
import { AppError } from "@cognition/contract";
import type { CommandHost, HostedCommand } from "../command-host.ts";
import type { WorkspaceQuota } from "../quota/workspace-quota.ts";
import type { ExecuteOptions, ExecuteResult, RunningCommand } from "../sandbox.ts";

export interface CommandRunnerOptions {
  readonly host: Pick<CommandHost, "run">;
  readonly quota: Pick<WorkspaceQuota, "watch">;
  readonly timeout_ms: number;
  readonly output_bytes: number;
  readonly now: () => number;
}

export interface CommandRunner {
  execute(command: string, options?: ExecuteOptions): Promise<ExecuteResult>;
  running(): readonly RunningCommand[];
  /** Kills what runs, and waits for it; later commands are refused with the same reason. */
  stop(reason: AppError): Promise<void>;
  /** The same, but a command that was given an id goes on without us. */
  leave(reason: AppError): Promise<void>;
}

interface Entry extends RunningCommand {
  readonly named: boolean;
  readonly kill: AbortController;
  readonly ended: Promise<unknown>;
}

/** Linux takes 128 KiB in one argument, with what a back end puts around it. */
const MAX_COMMAND_BYTES = 100_000;

/** What every back end does alike with a command, wherever it runs. */
export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  const { host, quota, now } = options;
  const entries = new Set<Entry>();
  const left = new AbortController();
  let stopped: AppError | undefined;

  function begin(command: string, execution: ExecuteOptions): Entry & { ended: ReturnType<CommandHost["run"]> } {
    const id = execution.id ?? randomUUID();
    const named = execution.id !== undefined;
    const kill = new AbortController();
    const signal = execution.signal ? AbortSignal.any([execution.signal, kill.signal]) : kill.signal;
    const detach = execution.detach ? AbortSignal.any([execution.detach, left.signal]) : left.signal;
    const ended = host.run(toHosted({ id, named, command, signal, detach }, execution, options));
    return { id, named, command, kill, ended, started_at: new Date(now()).toISOString() };
  }

  async function end(reason: AppError, isKilled: (entry: Entry) => boolean): Promise<void> {
    stopped ??= reason;
    for (const entry of entries) if (isKilled(entry)) entry.kill.abort(reason);
    left.abort(reason);
    await Promise.allSettled([...entries].map(({ ended }) => ended));
  }

  return {
    async execute(command, execution = {}) {
      checkOptions(command, execution);
      if (stopped) throw stopped;
      execution.signal?.throwIfAborted();
      const entry = begin(command, execution);
      entries.add(entry);
      const unwatch = quota.watch((reason) => entry.kill.abort(reason));
      try {
        return { id: entry.id, ...(await entry.ended) };
      } finally {
        unwatch();
        entries.delete(entry);
      }
    },
    running: () => {
      const byId = new Map([...entries].map(({ id, command, started_at }) => [id, { id, command, started_at }]));
      return [...byId.values()];
    },
    stop: (reason) => end(reason, () => true),
    leave: (reason) => end(reason, ({ named }) => !named),
  };
}

type Named = Pick<HostedCommand, "id" | "named" | "command" | "signal" | "detach">;

function toHosted(named: Named, execution: ExecuteOptions, options: CommandRunnerOptions): HostedCommand {
  const { env = {}, stdin, onOutput } = execution;
  const timeout_ms = Math.min(execution.timeout_ms ?? options.timeout_ms, options.timeout_ms);
  return { ...named, timeout_ms, output_bytes: options.output_bytes, env, stdin, onOutput };
}

function checkOptions(command: string, { timeout_ms, env = {} }: ExecuteOptions): void {
  if (command.includes("\0")) throw invalid("The command holds a NUL character, which no program can be given.");
  if (command.trim() === "") throw invalid("The command is empty.");
  const bytes = Buffer.byteLength(command);
  if (bytes > MAX_COMMAND_BYTES)
    throw invalid(
      `The command has ${bytes} bytes; no more than ${MAX_COMMAND_BYTES} can be passed to a program. Write a file with a file tool, and run or read that.`,
    );
  if (timeout_ms !== undefined && !(timeout_ms > 0)) throw invalid(`timeout_ms must be above 0; it is ${timeout_ms}.`);
  for (const [name, value] of Object.entries(env))
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes("\0"))
      throw invalid(`The environment variable "${name}" has a name or value that cannot be passed to a program.`);
}

function invalid(message: string): AppError {
  return new AppError("validation_failed", `${message} Nothing was run.`);
}
