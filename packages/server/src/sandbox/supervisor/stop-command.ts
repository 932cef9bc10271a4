import { setTimeout as delay } from "node:timers/promises";
import { openCgroup } from "../process/cgroup.ts";
import { createProcessTree, notKilled } from "../process/process-tree.ts";
import { type CommandFolder, type CommandNote, isAlive, type ProcessIdentity } from "./command-folder.ts";

/** Together less than the 2 s in which an aborted command must be dead. */
const START_MS = 300;
const TERMINATE_MS = 250;
const KILL_MS = 1_000;
/** For the supervisor to see it and to write its last word: afterwards the folder may be removed, and its name used again. */
const OUTCOME_MS = 400;
const LOOK_MS = 10;

/** Kills all that a command has started, whoever started it; its supervisor then sees it end. */
export async function stopCommand(folder: CommandFolder, note: CommandNote): Promise<void> {
  const leader = await untilStarted(folder, note);
  if (!leader) return;
  const cgroup = note.cgroup ? openCgroup(note.cgroup) : undefined;
  const tree = createProcessTree({ ...leader, mark: note.mark, cgroup });
  tree.terminate();
  for (const until = performance.now() + TERMINATE_MS; isAlive(leader) && performance.now() < until; )
    await delay(LOOK_MS);
  const left = await tree.kill(KILL_MS);
  for (const until = performance.now() + OUTCOME_MS; isOpen(folder, note) && performance.now() < until; )
    await delay(LOOK_MS);
  if (left.length > 0) throw notKilled(left);
}

function isOpen(folder: CommandFolder, note: CommandNote): boolean {
  return folder.outcome() === undefined && isAlive(note.supervisor);
}

/** A command that is just being started cannot be killed yet. Undefined for one that will never be. */
async function untilStarted(folder: CommandFolder, note: CommandNote): Promise<ProcessIdentity | undefined> {
  for (const until = performance.now() + START_MS; ; await delay(LOOK_MS)) {
    const isLate = performance.now() > until || !isOpen(folder, note);
    const leader = folder.process();
    if (leader || isLate) return leader;
  }
}
