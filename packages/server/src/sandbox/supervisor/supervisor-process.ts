import { closeSync, openSync, writeSync } from "node:fs";
import { isAppError } from "@cognition/contract/app-error";
import { hasCode, messageOf } from "../../file/error-text.ts";
import { openCgroup } from "../process/cgroup.ts";
import { runProcess } from "../process/run-process.ts";
import { type CommandFolder, commandFolder, identityOf } from "./command-folder.ts";
import type { NewsMessage, RunMessage } from "./supervisor-message.ts";

/*
 * The program that commands run under: a process of its own, so that they outlive the server that asked for them. It keeps
 * their output and their end on the disk, stops them in time, and ends when it has no server and no command any more.
 */
let running = 0;

process.on("message", (message) => void supervise(message as RunMessage));
process.on("disconnect", leaveIfIdle);
// Meant for the server, by a terminal or a service manager: commands are stopped by name, not with their supervisor.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
// A log that can't be written to must not take the commands with it.
process.stderr.on("error", () => {});

async function supervise(message: RunMessage): Promise<void> {
  running++;
  const folder = commandFolder(message.folder);
  try {
    folder.writeOutcome(await run(message, folder));
  } catch (error) {
    report(folder, error);
  } finally {
    if (message.cgroup) await openCgroup(message.cgroup).remove();
    tell({ folder: message.folder });
    running--;
    leaveIfIdle();
  }
}

async function run({ start, cgroup, timeout_ms, output_bytes }: RunMessage, folder: CommandFolder) {
  const output = openSync(folder.output, "a", 0o600);
  const group = cgroup && { cgroup: openCgroup(cgroup) };
  const watch = {
    timeout_ms,
    outputBytes: output_bytes,
    onStart: (pid: number) => folder.writeProcess(identityOf(pid)),
    onOutput: (text: string) => {
      writeSync(output, text);
      tell({ folder: folder.path });
    },
  };
  try {
    const { exit_code, timed_out, truncated, duration_ms } = await runProcess({ ...start, ...group }, watch);
    return { exit_code, timed_out, truncated, duration_ms };
  } finally {
    closeSync(output);
  }
}

function report(folder: CommandFolder, error: unknown): void {
  const code = isAppError(error) ? error.code : "tool_failed";
  const text = messageOf(error);
  try {
    folder.writeOutcome({ error: text, code });
  } catch (failure) {
    // Aborted, and its folder removed by whoever did it.
    if (hasCode(failure, "ENOENT")) return;
    console.error(new Date().toISOString(), text, failure);
    // The disk is full, or can't be written to. That the folder is gone tells whoever follows that no end will come.
    folder.remove();
  }
}

/** A hint: whoever follows a command looks for itself now and then. */
function tell(news: NewsMessage): void {
  if (process.connected) process.send?.(news, undefined, undefined, () => {});
}

function leaveIfIdle(): void {
  if (!process.connected && running === 0) process.exit(0);
}
