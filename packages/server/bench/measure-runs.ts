import { setTimeout as delay } from "node:timers/promises";
import { median } from "../../thread/bench/statistics.ts";
import { sampleDiskFloor } from "./disk-floor.ts";
import type { Side, Workload } from "./workload.ts";

/** How many runs one round takes at so many threads at once. */
export const RUNS: Readonly<Record<number, number>> = { 1: 120, 20: 200, 100: 400 };

export interface Sample {
  side: string;
  workload: Workload;
  threads: number;
  runs_per_second: number;
  /** Median of the runs, one right after the other. */
  first_token_ms: number;
  /** The same where each run comes to a process that has rested; only measured at one thread. */
  idle_first_token_ms: number | null;
  commits_per_run: number;
  /** Of this process, which holds both sides; commits wait outside of it. */
  cpu_ms_per_run: number;
}

export interface Measured {
  samples: Sample[];
  floor: number[];
}

/** The sides in turn within each round, and in the other order in the next: what else the machine does hits both alike. */
export async function measureRuns(
  sides: Readonly<Record<string, Side>>,
  { rounds, threads, workloads }: { rounds: number; threads: readonly number[]; workloads: readonly Workload[] },
  log: (line: string) => void,
): Promise<Measured> {
  const samples: Sample[] = [];
  const floor: number[] = [];
  for (const side of Object.values(sides)) for (const workload of workloads) await warmUp(side, workload);
  for (let round = 0; round < rounds; round++) {
    const inTurn = round % 2 === 0 ? Object.entries(sides) : Object.entries(sides).reverse();
    for (const [workload, many] of workloads.flatMap((each) => threads.map((at) => [each, at] as const))) {
      floor.push(...sampleDiskFloor());
      const measured = await measureInTurn(inTurn, workload, many);
      samples.push(...measured);
      for (const { side, runs_per_second } of measured) {
        log(`round ${round + 1}/${rounds}, ${workload}, ${many} at once, ${side}: ${runs_per_second.toFixed(1)}/s`);
      }
    }
  }
  return { samples, floor };
}

async function measureInTurn(sides: readonly [string, Side][], workload: Workload, threads: number): Promise<Sample[]> {
  const idle = threads === 1 ? await measureIdle(sides, workload) : undefined;
  const samples: Sample[] = [];
  for (const [name, side] of sides) {
    const measured = await measure(side, workload, threads);
    samples.push({ side: name, workload, threads, idle_first_token_ms: idle?.get(name) ?? null, ...measured });
  }
  return samples;
}

/** As `bench:http`: a server works for days, and with a twentieth of these the engine was still compiling what it runs. */
const WARM_UPS = 400;
const WARM_UPS_AT_ONCE = 20;

async function warmUp(side: Side, workload: Workload): Promise<void> {
  await side.prepare(WARM_UPS);
  let left = WARM_UPS;
  async function lane(): Promise<void> {
    while (left-- > 0) await side.run(workload);
  }
  await Promise.all(Array.from({ length: WARM_UPS_AT_ONCE }, lane));
}

/** So many messages come in a round to a process that has rested for so long. A person writes at most that often. */
const IDLE_RUNS = 24;
const REST_MS = 150;

/** The sides in turn run by run: within the seconds that all of one's would take, a machine may become another. */
async function measureIdle(sides: readonly [string, Side][], workload: Workload): Promise<Map<string, number>> {
  const firsts = new Map(sides.map(([name]) => [name, [] as number[]]));
  for (const [, side] of sides) await side.prepare(IDLE_RUNS);
  for (let n = 0; n < IDLE_RUNS; n++) {
    for (const [name, side] of sides) {
      await delay(REST_MS);
      firsts.get(name)?.push(await side.run(workload));
    }
  }
  return new Map([...firsts].map(([name, each]) => [name, median(each)]));
}

async function measure(side: Side, workload: Workload, threads: number) {
  const runs = RUNS[threads] ?? threads * 2;
  const firsts: number[] = [];
  let left = runs;
  async function lane(): Promise<void> {
    while (left-- > 0) firsts.push(await side.run(workload));
  }
  await side.prepare(runs);
  const [commits, cpu, start] = [side.commits(), process.cpuUsage(), performance.now()];
  await Promise.all(Array.from({ length: threads }, lane));
  const { user, system } = process.cpuUsage(cpu);
  const took = performance.now() - start;
  const commits_per_run = (side.commits() - commits) / runs;
  return {
    runs_per_second: (runs / took) * 1_000,
    first_token_ms: median(firsts),
    commits_per_run,
    cpu_ms_per_run: (user + system) / 1_000 / runs,
  };
}
