import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createTempDir } from "../../../testing/temp-dir.ts";
import type { Cell, Summary } from "../bench/summary.ts";

const bench = fileURLToPath(new URL("../bench/checkpoint.ts", import.meta.url));
const [SHORT, LONG] = [50, 200];

describe("the benchmark", () => {
  it("runs, and what a thread takes grows with its length, not with its square", async () => {
    const dir = createTempDir();
    const args = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning", bench];
    const { stdout } = await promisify(execFile)(process.execPath, [...args, "--short", "--ours", "--out", dir.path]);
    expect(stdout).toContain("Cognition, SQLite");
    for (const file of ["checkpoint.md", "checkpoint.svg"]) expect(existsSync(join(dir.path, file))).toBe(true);
    const summary: Summary = JSON.parse(readFileSync(join(dir.path, "checkpoint.json"), "utf8"));
    dir.remove();
    // Times depend on what else the machine does; these figures don't.
    for (const side of ["ours-sqlite", "ours-postgres"]) {
      const [short, long] = [cell(summary, side, SHORT), cell(summary, side, LONG)];
      expect(Number(long.disk_bytes)).toBeGreaterThan(Number(short.disk_bytes));
      expect(Number(long.disk_bytes) / Number(short.disk_bytes)).toBeLessThanOrEqual(4.4);
      expect(Number(long.disk_bytes)).toBeLessThanOrEqual(1_500_000);
    }
    expect(Number(cell(summary, "ours-postgres", LONG).round_trips_per_step)).toBeLessThanOrEqual(4);
  });
});

function cell({ cells }: Summary, side: string, steps: number): Cell {
  const found = cells.find((one) => one.side === side && one.steps === steps);
  if (!found) throw new Error(`The benchmark says nothing of ${side} at ${steps} steps`);
  return found;
}
