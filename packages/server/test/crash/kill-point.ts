import type { OpenStorageOptions, Storage } from "@cognition/thread";

/** Where in a run's life its process can be made to die. */
export const POINTS = [
  "at the admission",
  "before the intent",
  "after the intent",
  "in the tool",
  "before the result",
  "after the result",
  "in the answer",
  "before a checkpoint",
  "after a checkpoint",
  "before the end",
  "in the commit of the end",
  "after the end",
] as const;
export type Point = (typeof POINTS)[number];

export interface KillPlan {
  at: Point;
  /** Only in a call of this tool. */
  tool?: string | undefined;
  /** How often the point is passed alive. */
  skip: number;
}

export interface KillPoints {
  pass(point: Point, tool?: string): void;
  failpoint: NonNullable<OpenStorageOptions["failpoint"]>;
  /** The same storage; what passes through it passes the points. */
  watch(storage: Storage): Promise<Storage>;
}

export function createKillPoints(plan: KillPlan | undefined): KillPoints {
  let left = plan?.skip ?? 0;
  let ending = false;

  function pass(point: Point, tool?: string): void {
    if (plan?.at !== point || (plan.tool !== undefined && plan.tool !== tool)) return;
    if (left-- <= 0) process.kill(process.pid, "SIGKILL");
  }

  async function watchSaver(storage: Storage): Promise<void> {
    const saver = await storage.getCheckpointer();
    const put = saver.put.bind(saver);
    saver.put = async (...args) => {
      pass("before a checkpoint");
      const config = await put(...args);
      pass("after a checkpoint");
      return config;
    };
    const append = saver.appendEvents.bind(saver);
    saver.appendEvents = async (...args) => {
      const [, , events] = args;
      // Token by token: how many of them share a commit is for the machine to say.
      for (const { event } of events) if (event === "token") pass("in the answer");
      await append(...args);
    };
  }

  return {
    pass,
    failpoint: (at) => {
      if (at === "commit" && ending) pass("in the commit of the end");
    },
    watch: async (storage) => {
      await watchSaver(storage);
      const names = new Map<string, string>();
      return {
        ...storage,
        createRun: async (run) => {
          const admitted = await storage.createRun(run);
          pass("at the admission");
          return admitted;
        },
        beginToolCall: async (intent) => {
          names.set(intent.tool_call_id, intent.name);
          pass("before the intent", intent.name);
          const state = await storage.beginToolCall(intent);
          pass("after the intent", intent.name);
          return state;
        },
        finishToolCall: async (key, lease, end) => {
          pass("before the result", names.get(key.tool_call_id));
          await storage.finishToolCall(key, lease, end);
          pass("after the result", names.get(key.tool_call_id));
        },
        finishRun: async (lease, end) => {
          pass("before the end");
          ending = true;
          const run = await storage.finishRun(lease, end);
          ending = false;
          pass("after the end");
          return run;
        },
      };
    },
  };
}
