import { setTimeout as delay } from "node:timers/promises";

const DEADLINE_MS = 50_000;

/** Waits for a fact, and fails by its name when it does not come in time. */
export async function until(fact: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${DEADLINE_MS} ms in vain for ${fact}`);
    await delay(5);
  }
}
