import { expect, onTestFinished, test, vi } from "vitest";
import { watchStream } from "../../src/model/watch-stream.ts";

const LIMIT_MS = 50;
const timeouts = { connectMs: LIMIT_MS, firstTokenMs: LIMIT_MS, idleMs: LIMIT_MS, totalMs: 10 * LIMIT_MS };

/** By a clock of its own, so that no pause of the machine counts. */
async function read(pauses: readonly number[]): Promise<number[]> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  async function* pieces() {
    for (const ms of pauses) yield await new Promise<number>((resolve) => setTimeout(resolve, ms, ms));
  }
  const seen: number[] = [];
  const reading = (async () => {
    for await (const piece of watchStream(pieces, { provider_id: "slow", timeouts, signal: undefined }))
      seen.push(piece);
    return seen;
  })();
  reading.catch(() => undefined); // the test hears of it below
  await vi.runAllTimersAsync();
  return reading;
}

test("slow pieces are fine as long as they come, though all of them take longer than one may", async () => {
  expect(await read([40, 40, 40, 40])).toEqual([40, 40, 40, 40]);
});

test.each([
  ["firstToken", [60]],
  ["idle", [40, 60]],
  ["total", Array.from({ length: 13 }, () => 40)],
])("gives up by its limit %s", async (timeout, pauses) => {
  await expect(read(pauses)).rejects.toMatchObject({ code: "model_timeout", details: { timeout } });
});

test("what is aborted gives nothing more, though its source goes on: before the first piece, and between two", async () => {
  let n = 0;
  const counting = { next: () => Promise.resolve({ done: false, value: ++n }) };
  const pieces = () => ({ [Symbol.asyncIterator]: () => counting });
  const options = (signal: AbortSignal) => ({ provider_id: "deaf", timeouts, signal });
  const stop = new AbortController();
  const stream = watchStream(pieces, options(stop.signal));
  expect(await stream.next()).toEqual({ done: false, value: 1 });
  stop.abort(new Error("stopped"));
  await expect(stream.next()).rejects.toThrow("stopped");
  const late = watchStream(() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }), {
    ...options(AbortSignal.abort(new Error("stopped before"))),
  });
  await expect(late.next()).rejects.toThrow("stopped before");
});
