import { expect, it } from "vitest";
import { fuzz } from "./fuzz/fuzz.ts";

/** The same each time; `npm run test:fuzz` takes another. */
const SEED = 20_261_115;

it("odd requests are refused as problems and change nothing", { timeout: 300_000 }, () => expectRefused(200));

it("and so are more of them", { timeout: 300_000, tags: "long" }, () => expectRefused(1_000));

async function expectRefused(count: number): Promise<void> {
  const { sent, wrong, alive, faults } = await fuzz(count, SEED);
  expect(wrong).toEqual([]);
  expect(faults).toEqual([]);
  expect(sent).toBe(count);
  expect(alive).toBe(true);
}
