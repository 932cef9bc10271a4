import type { Database } from "../src/sql/database.ts";

const ROUNDS = 5;

/**
 * What the work takes when nothing else is in its way, in milliseconds: for ratios, never for a bound by itself. `before` each
 * time comes what does not count.
 */
export async function fastest(
  { isElsewhere }: Database,
  work: () => Promise<unknown>,
  before?: () => Promise<unknown>,
): Promise<number> {
  // A busy machine lets no process work for long in one piece. What the database does in this process is counted by the
  // processor's time, then; what it does in its own can't be, and is interrupted less, since it waits again and again.
  const now = isElsewhere ? () => performance.now() : processorTime;
  const times: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    await before?.();
    const started = now();
    await work();
    times.push(now() - started);
  }
  return Math.min(...times);
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
