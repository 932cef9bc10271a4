import { expect, inject, it } from "vitest";
import { measureLook, measureSnapshots } from "../../bench/measure-workspace.ts";

const short = inject("short");
const FILES = short ? 2_000 : 10_000;
const SNAPSHOTS = short ? 100 : 1_000;

it(`a look at ${FILES} files after one has changed takes no more than twice a bare stat of them all`, () => {
  const { look_ms, stat_ms } = measureLook(FILES);
  expect(look_ms / stat_ms).toBeLessThanOrEqual(2);
});

it(`${SNAPSHOTS} snapshots of ${FILES} files cost no more than the distinct bytes and a tenth, on disk; a restore is exact`, {
  timeout: 1_800_000,
}, async () => {
  const cost = await measureSnapshots(FILES, SNAPSHOTS);
  expect(cost.stored_bytes).toBeLessThanOrEqual(cost.distinct_bytes * 1.1);
  expect(cost.database_bytes).toBeLessThanOrEqual(cost.distinct_bytes * 1.1);
  expect(cost.is_exact).toBe(true);
});
