import { expect, onTestFinished, test, vi } from "vitest";
import { createGuardedFetch } from "../../src/model/guarded-fetch.ts";

test("the time to begin to answer is over with its beginning: a long answer is not cut off by it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const signals: (AbortSignal | null | undefined)[] = [];
  const send: typeof fetch = async (_input, init) => {
    signals.push(init?.signal);
    return new Response("data: 1\n\n");
  };
  await createGuardedFetch({ fetch: send, provider_id: "p", connectMs: 50 })("http://127.0.0.1:9");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
});
