import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Waits for a fact and fails when it does not come true in time. */
export async function until(fact: () => boolean | Promise<boolean>, withinMs = 50_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await fact())) {
    if (performance.now() > deadline) throw new Error(`not true after ${withinMs} ms: ${fact}`);
    await delay(10);
  }
}

/** The pids of living processes whose command line is exactly this. */
export function findProcesses(commandLine: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return line === commandLine ? [Number(name)] : [];
    } catch {
      // Ended between the listing and the reading.
      return [];
    }
  });
}
