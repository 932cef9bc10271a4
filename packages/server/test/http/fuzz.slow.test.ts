import { expect, inject, it } from "vitest";
import { fuzz } from "./fuzz/fuzz.ts";

const CASES = inject("short") ? 2_000 : 10_000;

it(`${CASES} odd requests are refused as problems and change nothing`, { timeout: 1_800_000 }, async () => {
  const seed = inject("fuzzSeed") ?? Math.trunc(Math.random() * 2 ** 31);
  const { sent, kinds, answers, wrong, alive, faults } = await fuzz(CASES, seed);
  process.stdout.write(`seed ${seed}, ${sent} sent ${JSON.stringify(kinds)}, answers ${JSON.stringify(answers)}\n`);
  expect(wrong, `FUZZ_SEED=${seed} npm run test:fuzz`).toEqual([]);
  expect(faults).toEqual([]);
  expect(sent).toBe(CASES);
  expect(alive).toBe(true);
});
