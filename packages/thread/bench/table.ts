import { sideNamed } from "./sides.ts";
import type { Cell } from "./summary.ts";
import type { Verdict } from "./targets.ts";

export interface Table {
  head: string[];
  rows: string[][];
}

export function cellTable(cells: readonly Cell[]): Table {
  return {
    head: [
      "steps",
      "side",
      "on disk",
      "written/step",
      "first ms",
      "last ms",
      "mean ms",
      "CPU ms",
      "net of disk ms",
      "commits/step",
      "round trips/step",
      "first read ms",
      "read ms",
      "RSS",
    ],
    rows: cells.map((cell) => [
      String(cell.steps),
      sideNamed(cell.side).label,
      bytes(cell.disk_bytes),
      bytes(cell.written_bytes_per_step),
      number(cell.first_ms),
      number(cell.last_ms),
      number(cell.mean_ms),
      number(cell.cpu_ms),
      number(cell.net_ms),
      cell.durable_commits_per_step === 0 ? "–" : number(cell.durable_commits_per_step),
      number(cell.round_trips_per_step),
      number(cell.first_read_ms),
      number(cell.read_ms),
      bytes(cell.rss_bytes),
    ]),
  };
}

export function verdictTable(verdicts: readonly Verdict[]): Table {
  return {
    head: ["target", "side", "steps", "asked", "measured", "reached", "no checkpointer", "one row"],
    rows: verdicts.map(({ target, side, steps, value, limit, unit, reached, without, least }) => [
      target,
      sideNamed(side).label,
      String(steps),
      `≤ ${limit} ${unit}`.trim(),
      `${number(value)} ${unit}`.trim(),
      reached === null ? "unclear" : reached ? "yes" : "NO",
      ...[without, least].map((other) => (other === null ? "–" : `${number(other)} ${unit}`)),
    ]),
  };
}

/** Columns under one another, for a terminal. */
export function asText({ head, rows }: Table): string {
  const widths = widthsOf({ head, rows });
  const line = (row: readonly string[]) =>
    row.map((text, i) => (isNumeric(text) ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0))).join("  ");
  return [line(head), ...rows.map(line)].map((text) => text.trimEnd()).join("\n");
}

export function asMarkdown(table: Table): string {
  const widths = widthsOf(table);
  const line = (row: readonly string[]) => `| ${row.map((text, i) => text.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(table.head), line(widths.map((width) => "-".repeat(width))), ...table.rows.map(line)].join("\n");
}

function widthsOf({ head, rows }: Table): number[] {
  return head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
}

function isNumeric(text: string): boolean {
  return /^[\d–]/.test(text);
}

export function number(value: number | null): string {
  if (value === null) return "–";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function bytes(value: number | null): string {
  if (value === null) return "–";
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} GB`;
  return value >= 1e6 ? `${(value / 1e6).toFixed(value >= 1e8 ? 0 : 2)} MB` : `${(value / 1e3).toFixed(0)} kB`;
}
