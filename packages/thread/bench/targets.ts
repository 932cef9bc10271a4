import { sides } from "./sides.ts";
import { type Cell, cellAt, type Summary } from "./summary.ts";

/** One promise, on one engine and length: what it asks for and what was measured. */
export interface Verdict {
  target: string;
  side: string;
  steps: number;
  value: number;
  limit: number;
  unit: string;
  /** Null for a time that was taken while the machine had other work: it says nothing, in either direction. */
  reached: boolean | null;
  /** The same figure for no checkpointer at all, where there is one. */
  without: number | null;
  /** The same figure for one row a superstep on the same engine. */
  least: number | null;
}

const MB = 1_000_000;
/** A step against the same step with no checkpointer. */
const TIMES_NONE = { sqlite: 1.5, postgres: 2 };

interface Target {
  target: string;
  limit: number;
  unit: string;
  isTime?: true;
  /** The only length it is asked of; all of them by default. */
  at?: number;
  value(cell: Cell): number | null | undefined;
  /** The same for no checkpointer, when that says how much of it is ours. */
  without?(cell: Cell): number | null | undefined;
  /** Of one row a superstep. */
  least?: true;
}

export function judge(summary: Summary): Verdict[] {
  return sides.flatMap(({ name, kind, engine }) => {
    if (kind !== "ours" || !(engine === "sqlite" || engine === "postgres")) return [];
    const cells = summary.cells.filter((cell) => cell.side === name);
    const targets = targetsOf(summary, TIMES_NONE[engine]);
    const leastAt = (steps: number) => cellAt(summary, `least-${engine}`, steps);
    return targets.flatMap((target) =>
      cells.flatMap((cell) => verdictOf(target, { cell, least: leastAt(cell.steps) }, isBusy(summary))),
    );
  });
}

/** The benchmark itself is one process or two that want to run. */
export function isBusy({ machine }: Summary): boolean {
  return machine.load > machine.cores + 1;
}

interface Measured {
  cell: Cell;
  least: Cell | undefined;
}

function verdictOf(asked: Target, { cell, least }: Measured, busy: boolean): Verdict[] {
  const { target, limit, unit, at } = asked;
  if (at !== undefined && at !== cell.steps) return [];
  const value = asked.value(cell);
  const without = asked.without?.(cell) ?? null;
  if (value === null || value === undefined) return [];
  const reached = asked.isTime && busy ? null : value <= limit;
  const ofLeast = (asked.least && least && asked.value(least)) ?? null;
  return [{ target, side: cell.side, steps: cell.steps, value, limit, unit, reached, without, least: ofLeast }];
}

function targetsOf(summary: Summary, timesNone: number): Target[] {
  const diskAt = (side: string, steps: number) => cellAt(summary, side, steps)?.disk_bytes ?? undefined;
  return [
    { target: "on disk", limit: 5, unit: "MB", at: 800, value: (cell) => cell.disk_bytes && cell.disk_bytes / MB },
    {
      target: "growth 200 → 800 steps",
      limit: 4.4,
      unit: "×",
      at: 800,
      value: ({ side, disk_bytes }) => ratio(disk_bytes, diskAt(side, 200)),
    },
    {
      target: "last step / first step",
      limit: 1.25,
      unit: "×",
      isTime: true,
      value: (cell) => cell.last_ms / cell.first_ms,
      without: ({ steps }) => {
        const none = cellAt(summary, "none", steps);
        return none && none.last_ms / none.first_ms;
      },
    },
    {
      target: "step / step with no checkpointer",
      limit: timesNone,
      unit: "×",
      isTime: true,
      least: true,
      value: (cell) => ratio(cell.last_ms, cellAt(summary, "none", cell.steps)?.last_ms),
    },
    {
      target: "the same, net of the disk",
      limit: timesNone,
      unit: "×",
      isTime: true,
      least: true,
      value: (cell) => ratio(cell.net_ms, cellAt(summary, "none", cell.steps)?.last_ms),
    },
    { target: "whole state read", limit: 30, unit: "ms", isTime: true, at: 800, value: (cell) => cell.read_ms },
    { target: "round trips per step", limit: 4, unit: "", value: (cell) => cell.round_trips_per_step },
  ];
}

function ratio(a: number | null, b: number | null | undefined): number | undefined {
  return a === null || b === null || b === undefined ? undefined : a / b;
}
