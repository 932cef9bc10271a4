import { availableParallelism } from "node:os";
import { median, quantile } from "./statistics.ts";

export interface Sample {
  message_ms: number;
  /** Of the message alone: the disk and what else runs on the machine have no part in it. */
  cpu_ms: number;
  /** One insert of the same row into a table like ours. */
  plain_ms: number;
  /** One insert of the same text into a table without indexes. */
  bare_ms: number;
}

export interface Window {
  from: number;
  to: number;
  message_ms: number;
  cpu_ms: number;
  plain_ms: number;
  bare_ms: number;
  ratio: number;
  bare_ratio: number;
}

export interface StateSummary {
  date: string;
  machine: { cores: number; platform: string; node: string };
  windows: Window[];
  /** Medians over all. */
  message_ms: number;
  cpu_ms: number;
  plain_ms: number;
  bare_ms: number;
  message_p95_ms: number;
  plain_p95_ms: number;
  bare_p95_ms: number;
  ratio: number;
  bare_ratio: number;
  /** The last three tenths' ratio against the first three's: what the disk did in between it did to both sides. */
  growth: number;
  /** The same of the processor's time. */
  cpu_growth: number;
}

export const TARGET_RATIO = 1.5;
/** What still counts as flat; the disk alone moves a window's median by as much. */
export const TARGET_GROWTH = 1.15;
const WINDOWS = 10;

export function summarizeState(samples: readonly Sample[]): StateSummary {
  const size = Math.floor(samples.length / WINDOWS);
  const windows = Array.from({ length: WINDOWS }, (_, n) => {
    const part = samples.slice(n * size, (n + 1) * size);
    return { from: n * size + 1, to: (n + 1) * size, ...medians(part) };
  });
  const growthOf = (field: "ratio" | "cpu_ms") => {
    const values = windows.map((window) => window[field]);
    return median(values.slice(-3)) / median(values.slice(0, 3));
  };
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cores: availableParallelism(),
      platform: `${process.platform} ${process.arch}`,
      node: process.versions.node,
    },
    windows,
    ...medians(samples),
    message_p95_ms: quantile(pick(samples, "message_ms"), 0.95),
    plain_p95_ms: quantile(pick(samples, "plain_ms"), 0.95),
    bare_p95_ms: quantile(pick(samples, "bare_ms"), 0.95),
    growth: growthOf("ratio"),
    cpu_growth: growthOf("cpu_ms"),
  };
}

function medians(samples: readonly Sample[]): Omit<Window, "from" | "to"> {
  const [message_ms, cpu_ms, plain_ms, bare_ms] = (["message_ms", "cpu_ms", "plain_ms", "bare_ms"] as const).map(
    (field) => median(pick(samples, field)),
  ) as [number, number, number, number];
  return { message_ms, cpu_ms, plain_ms, bare_ms, ratio: message_ms / plain_ms, bare_ratio: message_ms / bare_ms };
}

function pick(samples: readonly Sample[], field: keyof Sample): number[] {
  return samples.map((sample) => sample[field]);
}
