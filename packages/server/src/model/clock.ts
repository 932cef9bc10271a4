import { setTimeout as wait } from "node:timers/promises";

/** Time as the model calls see it: passed in, so that a test need not wait for it. */
export interface Clock {
  now(): number;
  /** Rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    try {
      await wait(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      // Node rejects with an AbortError of its own; callers compare against the reason that they gave.
      signal?.throwIfAborted();
      throw error;
    }
  },
};
