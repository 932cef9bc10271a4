import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";

/** Node reports a rejection once the microtasks and the current turn are done; a little later all of them are known. */
const SETTLED_MS = 20;

/** Runs the body and fails if a promise was rejected that nobody listened to: that would end a server's process. */
export async function withoutUnhandledRejections<T>(body: () => Promise<T>): Promise<T> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const result = await body();
    await delay(SETTLED_MS);
    return result;
  } finally {
    process.off("unhandledRejection", note);
    expect(unhandled, "unhandled rejections").toEqual([]);
  }
}
