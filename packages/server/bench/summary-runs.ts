import { cpus, loadavg } from "node:os";
import { median, quantile } from "../../thread/bench/statistics.ts";
import type { Measured, Sample } from "./measure-runs.ts";
import type { Workload } from "./workload.ts";

export interface Cell extends Omit<Sample, "side"> {
  side: string;
}

export const DURABLE = "durable";
export const IN_PROCESS = { deepagents: "in-process, deepagents", ours: "in-process, our steps" } as const;

export interface Verdict {
  target: string;
  /** The side it is compared with. */
  beside: string;
  workload: Workload;
  asked: string;
  measured: number;
  reached: boolean;
  /** The same, without the time that commits take of the disk. */
  net_of_disk: number | null;
}

export interface Summary {
  date: string;
  machine: { cores: number; platform: string; node: string; load: number };
  rounds: number;
  floor: { p50_ms: number; p90_ms: number };
  cells: Cell[];
  verdicts: Verdict[];
}

/** Of the rate of the same agent in-process, by threads at once. */
const LEAST_RATE: Readonly<Record<number, number>> = { 1: 0.5, 20: 0.65, 100: 0.65 };
const MOST_FIRST_TOKEN = 1.5;

export function summarise({ samples, floor }: Measured): Summary {
  const groups = Map.groupBy(samples, ({ side, workload, threads }) => `${workload} ${threads} ${side}`);
  const cells = [...groups.values()].map(cellOf);
  const floors = { p50_ms: median(floor), p90_ms: quantile(floor, 0.9) };
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cores: cpus().length,
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
      load: loadavg()[0] ?? 0,
    },
    rounds: Math.max(...[...groups.values()].map(({ length }) => length)),
    floor: floors,
    cells,
    verdicts: judge(samples, cells, floors.p50_ms),
  };
}

function cellOf(samples: readonly Sample[]): Cell {
  const { side, workload, threads } = samples[0] as Sample;
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick));
  return {
    side,
    workload,
    threads,
    runs_per_second: of((sample) => sample.runs_per_second),
    first_token_ms: of((sample) => sample.first_token_ms),
    idle_first_token_ms: threads === 1 ? of((sample) => sample.idle_first_token_ms ?? 0) : null,
    commits_per_run: of((sample) => sample.commits_per_run),
    cpu_ms_per_run: of((sample) => sample.cpu_ms_per_run),
  };
}

/** Ratios are taken within a round, where both sides met the same machine; the verdict is their median. */
function judge(samples: readonly Sample[], cells: readonly Cell[], commit_ms: number): Verdict[] {
  const places = cells.filter(({ side }) => side === DURABLE);
  const compared = Object.values(IN_PROCESS).flatMap((beside) => places.map((place) => ({ ...place, beside })));
  return compared.flatMap(({ workload, threads, beside }) => {
    const at = (side: string) =>
      samples.filter((s) => s.side === side && s.workload === workload && s.threads === threads);
    const pairs = at(DURABLE).map((ours, round) => [ours, at(beside)[round] as Sample] as const);
    const least = LEAST_RATE[threads] ?? 0;
    const rate = median(pairs.map(([ours, plain]) => ours.runs_per_second / plain.runs_per_second));
    const net = median(pairs.map(([ours, plain]) => 1_000 / netMs(ours, commit_ms) / plain.runs_per_second));
    const verdicts: Verdict[] = [
      {
        target: `runs per second, ${threads} at once`,
        beside,
        workload,
        asked: `≥ ${least}`,
        measured: rate,
        reached: rate >= least,
        net_of_disk: net,
      },
    ];
    if (threads !== 1) return verdicts;
    const first = median(
      pairs.map(([ours, plain]) => (ours.idle_first_token_ms ?? 0) / (plain.idle_first_token_ms ?? 0)),
    );
    const target = "first token at idle";
    const asked = `≤ ${MOST_FIRST_TOKEN}`;
    return [
      ...verdicts,
      { target, beside, workload, asked, measured: first, reached: first <= MOST_FIRST_TOKEN, net_of_disk: null },
    ];
  });
}

function netMs({ runs_per_second, commits_per_run }: Sample, commit_ms: number): number {
  return Math.max(1_000 / runs_per_second - commits_per_run * commit_ms, Number.EPSILON);
}
