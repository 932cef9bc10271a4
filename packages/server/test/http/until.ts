import { setTimeout as delay } from "node:timers/promises";

/** Waits for a fact, asking again until it is there. */
export async function until<T>(what: string, look: () => Promise<T | undefined>, withinMs = 50_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms for ${what}`);
    await delay(5);
  }
}
