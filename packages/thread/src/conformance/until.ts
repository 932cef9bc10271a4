import { setTimeout as delay } from "node:timers/promises";

const DEADLINE_MS = 50_000;
const POLL_MS = 5;

/** Asks until there is an answer, and fails by the fact's name when none came in time. */
export async function until<T>(fact: string, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${DEADLINE_MS} ms in vain for ${fact}`);
    await delay(POLL_MS);
  }
}
