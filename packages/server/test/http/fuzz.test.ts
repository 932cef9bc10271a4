import { expect, it } from "vitest";
import { fuzz } from "./fuzz/fuzz.ts";

const CASES = 1_000;
/** The same each time; `npm run test:fuzz` takes another. */
const SEED = 20_261_115;

it("odd requests are refused as problems and change nothing", { timeout: 300_000 }, async () => {
  const { sent, wrong, alive, faults } = await fuzz(CASES, SEED);
  expect(wrong).toEqual([]);
  expect(faults).toEqual([]);
  expect(sent).toBe(CASES);
  expect(alive).toBe(true);
});
