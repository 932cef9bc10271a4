import type { HttpSide, SideClient } from "./http-side.ts";
import { createThreads } from "./measure-rate.ts";
import type { ServerProcess } from "./server-process.ts";

export interface Kill {
  readonly accepted: number;
  /** Of those, how many had succeeded after the server had come back, or the time was up. */
  readonly ended: number;
  /** Milliseconds from the restarted server's first answer until the last of them. */
  readonly last_after_ms: number;
}

const RUN = "wait 500 ms, then say so";
const DEADLINE_MS = 30_000;
const LOOK_MS = 100;

/** Runs are accepted, the server is killed in the middle of them, and started again on what it left. */
export async function measureKill(side: HttpSide, folder: string, runs: number): Promise<Kill> {
  const server = await side.start(folder);
  const client = side.connect(server.url);
  const threads = await createThreads(client, runs);
  const accepted = await Promise.all(
    threads.map(async (thread) => ({ thread, run: await client.submit(thread, RUN) })),
  );
  await server.kill();
  return afterRestart(await side.start(folder), side, accepted);
}

async function afterRestart(
  server: ServerProcess,
  side: HttpSide,
  accepted: readonly { thread: string; run: string }[],
): Promise<Kill> {
  const client: SideClient = side.connect(server.url);
  const start = performance.now();
  let open = [...accepted];
  let last_after_ms = 0;
  while (open.length > 0 && performance.now() - start < DEADLINE_MS) {
    const succeeded = await Promise.all(open.map(({ thread, run }) => client.hasSucceeded(thread, run)));
    if (succeeded.includes(true)) last_after_ms = performance.now() - start;
    open = open.filter((_, index) => !succeeded[index]);
    if (open.length > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  await server.kill();
  return { accepted: accepted.length, ended: accepted.length - open.length, last_after_ms };
}
