import type { CompletedTask } from "@cognition/contract";
import { taskCompleted } from "./task-completed.ts";
import type { TaskChange, TaskChanged, TaskRef, TaskStore } from "./task-store.ts";

/** The one way from a state to the storage: in the order of the calls, one commit at a time. */
export interface TaskWriter {
  /** Resolves once the change is durable. Changes that come while a commit is under way share the next one. */
  write(change: TaskChange): Promise<void>;
  /** Waits for every change so far; rejects with the first one's error that could not be stored. */
  flush(): Promise<void>;
  /** Stores what waits and ends the task in one commit. A second call gives the first one's answer. */
  complete(): Promise<CompletedTask>;
}

interface Waiting {
  change: TaskChange;
  stored: PromiseWithResolvers<void>;
}

export function createTaskWriter(
  store: TaskStore,
  task: TaskRef,
  onStored: (changed: TaskChanged) => void,
): TaskWriter {
  let waiting: Waiting[] = [];
  let sent: Waiting[] = [];
  let running: Promise<void> | undefined;
  let completing: Promise<CompletedTask> | undefined;

  async function settle<T extends TaskChanged>(batch: Waiting[], send: (changes: TaskChange[]) => Promise<T>) {
    try {
      const changed = await send(batch.map(({ change }) => change));
      onStored(changed);
      for (const { stored } of batch) stored.resolve();
      return changed;
    } catch (error) {
      for (const { stored } of batch) stored.reject(error);
      throw error;
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0 && !completing) {
      sent = waiting;
      waiting = [];
      // Each caller has been told by its own promise.
      await settle(sent, (changes) => store.changeTask(task, changes)).catch(() => undefined);
    }
    sent = [];
    running = undefined;
  }

  /** Whoever waits here reports the failures, so they are not also unhandled rejections of promises nobody kept. */
  function outstanding(batch: readonly Waiting[]): Promise<unknown> {
    return Promise.all(batch.map(({ stored }) => stored.promise));
  }

  async function finish(): Promise<CompletedTask> {
    await Promise.all([outstanding(sent), running]);
    const batch = waiting;
    waiting = [];
    const told = outstanding(batch);
    const [{ done }] = await Promise.all([settle(batch, (changes) => store.completeTask(task, changes)), told]);
    return done;
  }

  return {
    write: (change) => {
      if (completing) return Promise.reject(taskCompleted(task.task_id));
      const stored = Promise.withResolvers<void>();
      waiting.push({ change, stored });
      // In the next turn: what is called without waiting in between goes together.
      running ??= Promise.resolve().then(run);
      return stored.promise;
    },
    flush: async () => {
      await outstanding([...sent, ...waiting]);
    },
    complete: () => {
      completing ??= finish().catch((error) => {
        completing = undefined;
        if (waiting.length > 0) running ??= run();
        throw error;
      });
      return completing;
    },
  };
}
