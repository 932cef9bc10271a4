import { cpus, loadavg } from "node:os";
import type { Measured, Sample } from "./measure.ts";
import { sides } from "./sides.ts";
import { median, medianOf, quantile } from "./statistics.ts";

/** One side at one length, as medians over the rounds. */
export interface Cell {
  side: string;
  steps: number;
  rounds: number;
  disk_bytes: number | null;
  written_bytes_per_step: number | null;
  first_ms: number;
  last_ms: number;
  mean_ms: number;
  cpu_ms: number;
  /** `last_ms` without what the disk takes for its commits. */
  net_ms: number;
  durable_commits_per_step: number;
  round_trips_per_step: number | null;
  first_read_ms: number | null;
  read_ms: number | null;
  rss_bytes: number;
}

interface Floor {
  p50_ms: number;
  p90_ms: number;
}

export interface Summary {
  date: string;
  machine: {
    cores: number;
    platform: string;
    node: string;
    /** Processes that wanted to run in the quarter of an hour before the end; the benchmark itself is one or two. */
    load: number;
  };
  floor: { sqlite: Floor; postgres: Floor };
  cells: Cell[];
}

export function summarise({ samples, floor }: Measured): Summary {
  const floors = { sqlite: floorOf(floor.sqlite), postgres: floorOf(floor.postgres) };
  const lengths = [...new Set(samples.map(({ steps }) => steps))];
  const cells = lengths.flatMap((steps) =>
    sides.flatMap(({ name, engine }) => {
      const rounds = samples.filter((sample) => sample.side === name && sample.steps === steps);
      const commit = engine === "sqlite" || engine === "postgres" ? floors[engine].p50_ms : 0;
      return rounds.length === 0 ? [] : [cellOf(rounds, commit)];
    }),
  );
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cores: cpus().length,
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
      load: loadavg()[1] ?? 0, // over five minutes, about as long as a round
    },
    floor: floors,
    cells,
  };
}

function floorOf(samples: readonly number[]): Floor {
  return { p50_ms: median(samples), p90_ms: quantile(samples, 0.9) };
}

function cellOf(rounds: readonly Sample[], commit_ms: number): Cell {
  const { side, steps } = rounds[0] as Sample;
  const of = (pick: (sample: Sample) => number) => median(rounds.map(pick));
  const last_ms = of((sample) => sample.last_ms);
  const durable_commits_per_step = of((sample) => sample.durable_commits);
  return {
    side,
    steps,
    rounds: rounds.length,
    disk_bytes: medianOf(rounds, (sample) => sample.disk_bytes),
    written_bytes_per_step: medianOf(rounds, (sample) => sample.written_bytes),
    first_ms: of((sample) => sample.first_ms),
    last_ms,
    mean_ms: of((sample) => sample.mean_ms),
    cpu_ms: of((sample) => sample.cpu_ms),
    net_ms: last_ms - durable_commits_per_step * commit_ms,
    durable_commits_per_step,
    round_trips_per_step: medianOf(rounds, (sample) => sample.round_trips),
    first_read_ms: medianOf(rounds, (sample) => sample.first_read_ms),
    read_ms: medianOf(rounds, (sample) => sample.read_ms),
    rss_bytes: of((sample) => sample.rss_bytes),
  };
}

export function cellAt({ cells }: Summary, side: string, steps: number): Cell | undefined {
  return cells.find((cell) => cell.side === side && cell.steps === steps);
}
