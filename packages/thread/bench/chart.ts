import { type Side, sides } from "./sides.ts";
import type { Cell, Summary } from "./summary.ts";
import { bytes } from "./table.ts";

const WIDTH = 960;
const HEIGHT = 494;
const PANEL = { top: 56, height: 300, width: 370 };
const LEFTS = [76, 556];

interface Panel {
  title: string;
  left: number;
  value(cell: Cell): number | null;
  label(value: number): string;
}

interface Scale {
  min: number;
  max: number;
}

/** Two charts side by side, both axes logarithmic: a line that rises twice as steeply is a square. */
export function drawChart({ cells }: Summary): string {
  const panels: Panel[] = [
    { title: "Bytes on disk", left: LEFTS[0] as number, value: (cell) => cell.disk_bytes, label: roundBytes },
    {
      title: "Milliseconds per step, at the end",
      left: LEFTS[1] as number,
      value: (cell) => cell.last_ms,
      label: plain,
    },
  ];
  const shown = sides.filter(({ name }) => cells.some((cell) => cell.side === name));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Bytes on disk and milliseconds per step, by the number of steps">
<style>
  text { font: 13px system-ui, sans-serif; fill: #59616b; }
  .title { font-size: 15px; font-weight: 600; }
  .grid { stroke: #8a8f98; stroke-opacity: 0.3; }
  @media (prefers-color-scheme: dark) { text { fill: #b4bac2; } }
</style>
${panels.map((panel) => drawPanel(panel, cells, shown)).join("\n")}
${shown.map(drawKey).join("\n")}
</svg>
`;
}

function drawPanel(panel: Panel, cells: readonly Cell[], shown: readonly Side[]): string {
  const values = cells.flatMap((cell) => panel.value(cell) ?? []);
  const lengths = [...new Set(cells.map(({ steps }) => steps))];
  const y = aroundDecades(values);
  const x = { min: Math.min(...lengths), max: Math.max(...lengths) };
  const right = panel.left + PANEL.width;
  const bottom = PANEL.top + PANEL.height;
  const rules = decades(y).map((value) => {
    const at = up(value, y);
    return `<line class="grid" x1="${panel.left}" x2="${right}" y1="${at}" y2="${at}"/>
<text x="${panel.left - 8}" y="${at + 4}" text-anchor="end">${panel.label(value)}</text>`;
  });
  const marks = lengths.map((steps) => {
    const at = along(steps, x, panel.left);
    return `<line class="grid" x1="${at}" x2="${at}" y1="${PANEL.top}" y2="${bottom}"/>
<text x="${at}" y="${bottom + 20}" text-anchor="middle">${steps}</text>`;
  });
  const lines = shown.map((side) => drawLine(side, panel, cells, x, y));
  return [
    `<text class="title" x="${panel.left}" y="${PANEL.top - 22}">${panel.title}</text>`,
    ...rules,
    ...marks,
    `<text x="${right}" y="${bottom + 40}" text-anchor="end">steps</text>`,
    ...lines.filter((line) => line !== ""),
  ].join("\n");
}

function drawLine(side: Side, panel: Panel, cells: readonly Cell[], x: Scale, y: Scale): string {
  const points = cells.flatMap((cell) => {
    const value = cell.side === side.name ? panel.value(cell) : null;
    return value === null ? [] : [[along(cell.steps, x, panel.left), up(value, y)] as const];
  });
  if (points.length === 0) return "";
  const dashes = side.kind === "official" ? ' stroke-dasharray="6 4"' : "";
  const dots = points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${side.colour}"/>`);
  return `<polyline points="${points.map((point) => point.join(",")).join(" ")}" fill="none" stroke="${side.colour}" stroke-width="2.5"${dashes}/>
${dots.join("")}`;
}

function drawKey(side: Side, i: number): string {
  const left = (LEFTS[0] as number) + (i % 4) * 215;
  const top = HEIGHT - 64 + Math.floor(i / 4) * 24;
  const dashes = side.kind === "official" ? ' stroke-dasharray="6 4"' : "";
  return `<line x1="${left}" x2="${left + 26}" y1="${top - 4}" y2="${top - 4}" stroke="${side.colour}" stroke-width="2.5"${dashes}/>
<text x="${left + 34}" y="${top}">${side.label}</text>`;
}

function along(steps: number, { min, max }: Scale, left: number): number {
  return round(left + (max === min ? 0.5 : Math.log(steps / min) / Math.log(max / min)) * PANEL.width);
}

function up(value: number, { min, max }: Scale): number {
  return round(PANEL.top + PANEL.height * (1 - Math.log(value / min) / Math.log(max / min)));
}

function aroundDecades(values: readonly number[]): Scale {
  const min = 10 ** Math.floor(Math.log10(Math.min(...values)));
  return { min, max: Math.max(10 * min, 10 ** Math.ceil(Math.log10(Math.max(...values)))) };
}

function decades({ min, max }: Scale): number[] {
  const values: number[] = [];
  for (let value = min; value <= max * 1.001; value *= 10) values.push(value);
  return values;
}

function roundBytes(value: number): string {
  return bytes(value).replace(/\.0+ /, " ");
}

function plain(value: number): string {
  return `${value} ms`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
