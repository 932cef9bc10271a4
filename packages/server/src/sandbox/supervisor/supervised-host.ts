import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { AppError, ErrorCode } from "@cognition/contract";
import type { CommandEnd, CommandHost, HostedCommand } from "../command-host.ts";
import { digestOf } from "../digest.ts";
import { followCommand } from "../follow-command.ts";
import { idInUse } from "../id-in-use.ts";
import { createProcessHost, type PrepareCommand, type PreparedProcess } from "../process/process-host.ts";
import { type CommandFolder, type CommandNote, type CommandOutcome, folderOf } from "./command-folder.ts";
import { followFolder } from "./follow-folder.ts";
import { stopCommand } from "./stop-command.ts";
import type { Supervisor } from "./supervisor.ts";

export interface SupervisedHostOptions {
  readonly supervisor: Supervisor;
  /** Where commands have their folders. */
  readonly state: string;
  readonly session_id: string;
  readonly prepare: PrepareCommand;
  readonly now: () => number;
}

/** Whoever claimed a folder writes its note next, without waiting for anything but the command's own preparation. */
const NOTE_MS = 2_000;

/**
 * Runs named commands under the supervisor, where they outlive this server; the others, which nobody could find again, as
 * its own processes.
 */
export function createSupervisedHost(options: SupervisedHostOptions): CommandHost {
  const { supervisor, state, session_id, prepare } = options;
  const plain = createProcessHost(prepare);
  const find = (id: string) => folderOf(state, session_id, id);

  async function run(command: HostedCommand): Promise<CommandEnd> {
    const folder = find(command.id);
    if (!folder.claim()) return follow(supervisor, command, folder, await findNote(folder, command));
    try {
      const prepared = await prepare(command);
      if (prepared.type === "ended") {
        folder.remove();
        command.onOutput?.(prepared.output);
        const { output, exit_code } = prepared;
        return { output, exit_code, truncated: false, timed_out: false, duration_ms: 0 };
      }
      return await follow(supervisor, command, folder, await start(options, command, folder, prepared));
    } catch (error) {
      if (!folder.note()) folder.remove();
      throw error;
    }
  }

  return {
    run: (command) => (command.named ? run(command) : plain.run(command)),
    async knows(id) {
      const note = find(id).note();
      return note !== undefined && note.host === hostname();
    },
    async stop(id) {
      const folder = find(id);
      const note = folder.note();
      if (note?.host === hostname()) await stop(folder, note);
    },
    forget: async (id) => find(id).remove(),
    close: async () => {},
  };
}

async function start(
  { supervisor, session_id, now }: SupervisedHostOptions,
  command: HostedCommand,
  folder: CommandFolder,
  { start, release }: PreparedProcess,
): Promise<CommandNote> {
  const { id, timeout_ms, output_bytes, stdin } = command;
  const { cgroup, ...rest } = start;
  const folders = cgroup?.folders;
  try {
    command.signal.throwIfAborted();
    const note: CommandNote = {
      id,
      session_id,
      digest: digestOf(command.command),
      started_ms: now(),
      host: hostname(),
      supervisor: supervisor.identity(),
      mark: start.mark,
      cgroup: folders,
    };
    folder.writeNote(note);
    supervisor.run({ folder: folder.path, start: { ...rest, stdin }, cgroup: folders, timeout_ms, output_bytes });
    return note;
  } catch (error) {
    await release();
    throw error;
  }
}

async function follow(
  supervisor: Supervisor,
  command: HostedCommand,
  folder: CommandFolder,
  note: CommandNote,
): Promise<CommandEnd> {
  // What is on the disk is cut already, and its last line says so.
  const following = followCommand({ ...command, output_bytes: Number.POSITIVE_INFINITY });
  const reading = followFolder(folder, note, { supervisor, take: following.take });
  const cause = await following.wait(reading.ended);
  const output = () => following.output.end().output;
  if (cause.type === "told" && cause.told) return report(cause.told, output());
  reading.stop();
  if (cause.type === "detached") throw command.detach.reason;
  await stop(folder, note);
  if (cause.type === "told") throw cutOff();
  if (cause.type === "aborted") throw command.signal.reason;
  if (cause.type === "failure") throw cause.error;
  const { timeout_ms: duration_ms } = command;
  return report({ exit_code: null, timed_out: true, truncated: false, duration_ms }, output());
}

async function stop(folder: CommandFolder, note: CommandNote): Promise<void> {
  await stopCommand(folder, note);
  folder.remove();
}

async function findNote(folder: CommandFolder, { id, command }: HostedCommand): Promise<CommandNote> {
  const digest = digestOf(command);
  for (const until = performance.now() + NOTE_MS; ; await delay(5)) {
    const note = folder.note();
    if (note && note.digest === digest && note.host === hostname()) return note;
    if (note || performance.now() > until) throw idInUse(id);
  }
}

function report(outcome: CommandOutcome, output: string): CommandEnd {
  if (!("error" in outcome)) return { ...outcome, output };
  const { success, data } = ErrorCode.safeParse(outcome.code);
  throw new AppError(success ? data : "tool_failed", outcome.error);
}

function cutOff(): AppError {
  return new AppError(
    "outcome_unknown",
    "The command was cut off together with the process that supervised it, and is not running any more. How far it came is not known.",
  );
}
