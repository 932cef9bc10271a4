import { readdirSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { hasCode } from "../../file/error-text.ts";
import type { BackendContext } from "../backend.ts";
import type { CommandHost } from "../command-host.ts";
import { createProcessHost, type PrepareCommand } from "../process/process-host.ts";
import type { LeftCommand } from "../sandbox.ts";
import { type CommandFolder, commandFolder, isAlive, sessionFolder } from "./command-folder.ts";
import { stopCommand } from "./stop-command.ts";
import { createSupervisedHost } from "./supervised-host.ts";
import { createSupervisor } from "./supervisor.ts";

/** How back ends whose commands are processes of this machine get their hosts. */
export interface Supervision {
  openHost(session_id: string, prepare: PrepareCommand): CommandHost;
  /** Ends what still runs of a session, and forgets all of it. */
  remove(session_id: string): Promise<void>;
  /** What runs now. */
  left(): LeftCommand[];
  close(): void;
}

type Context = Pick<BackendContext, "commandFolder" | "environment" | "now">;

/** An end that nobody has asked for by then belongs to a run that was given up. */
const KEPT_MS = 24 * 3_600_000;

/** Without a folder to keep them in, commands end with the server. */
export async function superviseCommands({ commandFolder: state, environment, now }: Context): Promise<Supervision> {
  if (state === undefined)
    return {
      openHost: (_id, prepare) => createProcessHost(prepare),
      remove: async () => {},
      left: () => [],
      close: () => {},
    };
  const supervisor = createSupervisor({ state, path: environment["PATH"] ?? "" });
  await reclaim(state, now());
  return {
    openHost: (session_id, prepare) => createSupervisedHost({ supervisor, state, session_id, prepare, now }),
    async remove(session_id) {
      const path = sessionFolder(state, session_id);
      for (const folder of listCommands(path)) await stop(folder);
      rmSync(path, { recursive: true, force: true });
    },
    left: () => listAll(state).flatMap(leftCommand),
    close: supervisor.close,
  };
}

function leftCommand(folder: CommandFolder): LeftCommand[] {
  const { id, session_id } = folder.note() ?? {};
  if (id === undefined || session_id === undefined || !isRunning(folder)) return [];
  const stopAndForget = async () => {
    await stop(folder);
    folder.remove();
  };
  return [{ id, session_id, isRunning: () => isRunning(folder), stop: stopAndForget }];
}

function isRunning(folder: CommandFolder): boolean {
  const note = folder.note();
  return note?.host === hostname() && !folder.outcome() && isAlive(note.supervisor);
}

/** After a crash of supervisors, or of the machine: nobody watches over their commands any more. */
async function reclaim(state: string, now: number): Promise<void> {
  for (const folder of listAll(state)) await reclaimCommand(folder, now);
}

async function reclaimCommand(folder: CommandFolder, now: number): Promise<void> {
  const note = folder.note();
  if (note && note.host !== hostname()) return;
  const isOver = folder.outcome() !== undefined || !note;
  if (isOver && now - modifiedAt(folder.path) > KEPT_MS) folder.remove();
  if (!isOver && !isAlive(note.supervisor)) await stop(folder);
}

async function stop(folder: CommandFolder): Promise<void> {
  const note = folder.note();
  if (note && note.host === hostname() && !folder.outcome()) await stopCommand(folder, note);
}

function listAll(state: string): CommandFolder[] {
  return list(state).flatMap((session) => listCommands(join(state, session)));
}

function listCommands(session: string): CommandFolder[] {
  return list(session).map((name) => commandFolder(join(session, name)));
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
}
