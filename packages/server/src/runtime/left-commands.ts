import type { Storage, ToolCallRecord } from "@cognition/thread";
import type { LeftCommand, Sandboxes } from "../sandbox/sandbox.ts";

export interface LeftCommandsOptions {
  readonly storage: Pick<Storage, "listRuns" | "listToolCalls">;
  readonly sandboxes: Pick<Sandboxes, "left">;
  /** How often they are looked at. */
  readonly look_ms?: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Commands that outlived the process before this one, or were left with a run that this node has lost. A node on another host
 * that has taken their run over can't reach them: it tells the model that nobody knows their outcome, and goes on. What nobody
 * waits for any more is stopped here, or an abort would not reach it either, and it would go on changing files that the session
 * no longer stands at.
 */
export interface LeftCommands {
  /** Looks which there are now. */
  start(): void;
  stop(): void;
}

/** An aborted command is to be dead within two seconds. */
const LOOK_MS = 1_000;
/** The run that began a command is among the session's newest, as long as the command may take. */
const RUNS = 50;

export function createLeftCommands(options: LeftCommandsOptions): LeftCommands {
  const { storage, sandboxes, look_ms = LOOK_MS, onError } = options;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function look(commands: readonly LeftCommand[]): Promise<void> {
    for (const command of commands) {
      const call = await findCall(storage, command);
      // Of a call that this storage knows nothing of somebody else may know.
      if (call && call.status !== "started") await command.stop();
    }
  }

  /** Until each has ended, by itself or here: its run may still be taken over, or be aborted elsewhere. */
  function lookAt(commands: readonly LeftCommand[]): void {
    const running = commands.filter((command) => command.isRunning());
    if (running.length === 0) return;
    timer = setTimeout(() => {
      const again = timer;
      void look(running)
        .catch(onError)
        .then(() => again === timer && lookAt(running));
    }, look_ms);
  }

  return {
    start: () => {
      clearTimeout(timer);
      if (!stopped) lookAt(sandboxes.left()); // a node that shuts down may still be handing runs back
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

async function findCall(
  storage: LeftCommandsOptions["storage"],
  { session_id, id }: LeftCommand,
): Promise<ToolCallRecord | undefined> {
  for (const run of await storage.listRuns(session_id, { limit: RUNS })) {
    const calls = await storage.listToolCalls(run.id);
    // A call that runs several commands numbers them.
    const call = calls.find(({ idempotency_key: key }) => id === key || id.startsWith(`${key}.`));
    if (call) return call;
  }
  return undefined;
}
