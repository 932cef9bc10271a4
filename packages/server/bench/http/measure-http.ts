import { loadavg } from "node:os";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import type { HttpSide } from "./http-side.ts";
import { type Kill, measureKill } from "./measure-kill.ts";
import { measureRate, type Rate, type Running } from "./measure-rate.ts";
import { type IdleStreams, measureIdle, measureReconnects } from "./measure-streams.ts";

export interface Sample {
  readonly side: string;
  readonly rates: readonly Rate[];
  readonly reconnects: readonly number[];
  readonly idle: IdleStreams;
  readonly kill: Kill;
  readonly load: number;
}

export interface Plan {
  readonly rounds: number;
  /** Runs of a round, by how many are at once. */
  readonly runs: ReadonlyMap<number, number>;
  readonly reconnects: number;
  readonly idle_streams: number;
  readonly killed_runs: number;
}

/** Enough for the code of both to be compiled: what is measured is a server that has been running for a while. */
const WARM_UP = { at_once: 50, runs: 400 };

/** The sides in turn within each round, and in the other order in the next: what else the machine does hits both alike. */
export async function measureHttp(
  sides: readonly HttpSide[],
  plan: Plan,
  log: (line: string) => void,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const sample = await measure(side, plan);
      samples.push(sample);
      const rates = sample.rates.map(
        ({ at_once, runs_per_second }) => `${at_once} at once ${runs_per_second.toFixed(1)}/s`,
      );
      log(`round ${round + 1}/${plan.rounds}, ${side.name}: ${rates.join(", ")}`);
    }
  }
  return samples;
}

/** Every part on a fresh server and an empty folder but the rates, which share a warm one. */
async function measure(side: HttpSide, plan: Plan): Promise<Sample> {
  const rates = await withServer(side, async (running) => {
    await measureRate(running, WARM_UP.at_once, WARM_UP.runs);
    const found: Rate[] = [];
    for (const [at_once, runs] of plan.runs) found.push(await measureRate(running, at_once, runs));
    return found;
  });
  const load = loadavg()[0] ?? 0;
  const reconnects = await withServer(side, ({ server, client }) => measureReconnects(server, client, plan.reconnects));
  const idle = await withServer(side, ({ server, client }) => measureIdle(server, client, plan.idle_streams));
  const dir = createTempDir("cognition-bench-");
  const kill = await measureKill(side, dir.path, plan.killed_runs);
  dir.remove();
  return { side: side.name, rates, reconnects, idle, kill, load };
}

async function withServer<T>(side: HttpSide, work: (running: Running) => Promise<T>): Promise<T> {
  const dir = createTempDir("cognition-bench-");
  const server = await side.start(dir.path);
  try {
    return await work({ server, client: side.connect(server.url) });
  } finally {
    await server.kill();
    dir.remove();
  }
}
