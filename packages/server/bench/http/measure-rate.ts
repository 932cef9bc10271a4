import type { SideClient, Timing } from "./http-side.ts";
import type { ServerProcess } from "./server-process.ts";

export interface Rate {
  readonly at_once: number;
  readonly runs_per_second: number;
  /** Of the server alone. Unlike the rate it says the same on a machine that others use as well. */
  readonly cpu_ms_per_run: number;
  readonly timings: readonly Timing[];
}

export interface Running {
  readonly server: ServerProcess;
  readonly client: SideClient;
}

/** So many lanes, each with one run after the other, every run on a thread of its own that was made beforehand. */
export async function measureRate({ server, client }: Running, at_once: number, runs: number): Promise<Rate> {
  const threads = await createThreads(client, runs);
  const timings: Timing[] = [];
  async function lane(): Promise<void> {
    for (let thread = threads.pop(); thread !== undefined; thread = threads.pop()) {
      timings.push(await client.run(thread, `Echo of ${thread}`));
    }
  }
  const cpu = await server.cpuMs();
  const start = performance.now();
  await Promise.all(Array.from({ length: at_once }, lane));
  const ms = performance.now() - start;
  const cpu_ms_per_run = ((await server.cpuMs()) - cpu) / runs;
  return { at_once, runs_per_second: (runs / ms) * 1_000, cpu_ms_per_run, timings };
}

/** A few at a time: what is measured is runs, and no server should choke on what comes before. */
export async function createThreads(client: SideClient, count: number): Promise<string[]> {
  const threads: string[] = [];
  while (threads.length < count) {
    const some = Array.from({ length: Math.min(20, count - threads.length) }, () => client.createThread());
    threads.push(...(await Promise.all(some)));
  }
  return threads;
}
