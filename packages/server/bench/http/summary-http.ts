import { cpus } from "node:os";
import { median, quantile } from "../../../thread/bench/statistics.ts";
import type { Plan, Sample } from "./measure-http.ts";
import type { Rate } from "./measure-rate.ts";

export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

export interface RateCell {
  readonly side: string;
  readonly at_once: number;
  readonly runs_per_second: number;
  readonly cpu_ms_per_run: number;
  readonly first_event_ms: Spread;
  readonly whole_ms: Spread;
}

export interface StreamCell {
  readonly side: string;
  readonly reconnect_ms: Spread;
  readonly idle_rss_bytes: number;
  readonly idle_held_bytes: number;
  readonly accepted: number;
  readonly ended: number;
  readonly last_ended_after_ms: number | null;
}

export interface Verdict {
  readonly target: string;
  readonly asked: string;
  readonly measured: number;
  readonly reached: boolean;
}

export interface HttpSummary {
  readonly date: string;
  readonly machine: { cores: number; platform: string; node: string; load: number };
  readonly plan: { rounds: number; idle_streams: number; killed_runs: number };
  readonly rates: readonly RateCell[];
  readonly streams: readonly StreamCell[];
  readonly verdicts: readonly Verdict[];
}

const LEAST_RATE = 4;
const MOST_FIRST_EVENT = 0.25;

export function summarise(samples: readonly Sample[], plan: Plan): HttpSummary {
  const sides = [...Map.groupBy(samples, ({ side }) => side)];
  const { rounds, idle_streams, killed_runs } = plan;
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cores: cpus().length,
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
      load: median(samples.map(({ load }) => load)),
    },
    plan: { rounds, idle_streams, killed_runs },
    rates: [...plan.runs.keys()].flatMap((at_once) => sides.map(([side, of]) => rateCell(side, at_once, of))),
    streams: sides.map(([side, of]) => streamCell(side, of)),
    verdicts: [...plan.runs.keys()].flatMap((at_once) => judge(sides, at_once)),
  };
}

function rateCell(side: string, at_once: number, samples: readonly Sample[]): RateCell {
  const rates = samples.map((sample) => rateAt(sample, at_once));
  const timings = rates.flatMap((rate) => rate.timings);
  return {
    side,
    at_once,
    runs_per_second: median(rates.map(({ runs_per_second }) => runs_per_second)),
    cpu_ms_per_run: median(rates.map(({ cpu_ms_per_run }) => cpu_ms_per_run)),
    first_event_ms: spread(timings.map(({ first_event_ms }) => first_event_ms)),
    whole_ms: spread(timings.map(({ whole_ms }) => whole_ms)),
  };
}

function streamCell(side: string, samples: readonly Sample[]): StreamCell {
  const kills = samples.map(({ kill }) => kill);
  const ended = kills.reduce((sum, kill) => sum + kill.ended, 0);
  return {
    side,
    reconnect_ms: spread(samples.flatMap(({ reconnects }) => reconnects)),
    idle_rss_bytes: median(samples.map(({ idle }) => idle.rss_bytes)),
    idle_held_bytes: median(samples.map(({ idle }) => idle.held_bytes)),
    accepted: kills.reduce((sum, kill) => sum + kill.accepted, 0),
    ended,
    last_ended_after_ms: ended === 0 ? null : Math.max(...kills.map(({ last_after_ms }) => last_after_ms)),
  };
}

/** Ratios are taken within a round, where both sides met the same machine; the verdict is their median. */
function judge(sides: readonly (readonly [string, readonly Sample[]])[], at_once: number): Verdict[] {
  const [ours, peer] = sides.map(([, samples]) => samples.map((sample) => rateAt(sample, at_once)));
  if (!ours || !peer) return [];
  const ratio = (pick: (rate: Rate) => number) =>
    median(ours.map((rate, round) => pick(rate) / pick(peer[round] as Rate)));
  const rate = ratio(({ runs_per_second }) => runs_per_second);
  const first = ratio(({ timings }) => median(timings.map(({ first_event_ms }) => first_event_ms)));
  return [
    {
      target: `runs per second, ${at_once} at once`,
      asked: `≥ ${LEAST_RATE}`,
      measured: rate,
      reached: rate >= LEAST_RATE,
    },
    {
      target: `first event p50, ${at_once} at once`,
      asked: `< ${MOST_FIRST_EVENT}`,
      measured: first,
      reached: first < MOST_FIRST_EVENT,
    },
  ];
}

function rateAt({ side, rates }: Sample, at_once: number): Rate {
  const rate = rates.find((each) => each.at_once === at_once);
  if (!rate) throw new Error(`${side} was not measured with ${at_once} at once`);
  return rate;
}

function spread(values: readonly number[]): Spread {
  return { p50: median(values), p99: quantile(values, 0.99) };
}
