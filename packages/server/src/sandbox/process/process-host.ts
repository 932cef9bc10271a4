import type { CommandEnd, CommandHost, HostedCommand } from "../command-host.ts";
import { idInUse } from "../id-in-use.ts";
import { type ProcessStart, runProcess } from "./run-process.ts";

/** A command made ready: a process to start, or what it comes to without one. */
export type PreparedCommand =
  | PreparedProcess
  | { readonly type: "ended"; readonly exit_code: number; readonly output: string };

export interface PreparedProcess {
  readonly type: "process";
  readonly start: ProcessStart;
  /** Takes back what was made for it. Whoever starts the process sees to it. */
  readonly release: () => Promise<void>;
}

/** Throws what `execute` promises to reject with before anything runs. */
export type PrepareCommand = (command: Pick<HostedCommand, "command" | "env">) => Promise<PreparedCommand>;

/** Runs commands as processes of this server. */
export function createProcessHost(prepare: PrepareCommand): CommandHost {
  const running = new Set<string>();
  return {
    async run(command) {
      if (running.has(command.id)) throw idInUse(command.id);
      running.add(command.id);
      try {
        return await run(await prepare(command), command);
      } finally {
        running.delete(command.id);
      }
    },
    knows: async (id) => running.has(id),
    // What runs here is waited for here, and stopped by its signal.
    stop: async () => {},
    forget: async () => {},
    close: async () => {},
  };
}

async function run(prepared: PreparedCommand, command: HostedCommand): Promise<CommandEnd> {
  const { timeout_ms, output_bytes, stdin, onOutput } = command;
  // Nobody could find it again once it is let go of.
  const signal = AbortSignal.any([command.signal, command.detach]);
  if (prepared.type === "ended") {
    const { output, exit_code } = prepared;
    onOutput?.(output);
    return { output, exit_code, truncated: false, timed_out: false, duration_ms: 0 };
  }
  try {
    return await runProcess({ ...prepared.start, stdin }, { timeout_ms, outputBytes: output_bytes, signal, onOutput });
  } finally {
    await prepared.release();
  }
}
