import { expect, inject, it } from "vitest";
import { fuzz } from "./fuzz/fuzz.ts";
import { openPostgres, openSqlite } from "./fuzz/fuzzed-storage.ts";

const CASES = inject("short") ? 2_000 : 10_000;
const engines = [
  ["sqlite", CASES, openSqlite],
  // To see that nothing has changed takes longer there.
  ["postgres", CASES / 4, openPostgres],
] as const;

it.each(engines)(
  `${CASES} odd requests are refused as problems and change nothing, on %s`,
  {
    timeout: 1_800_000,
  },
  async (name, cases, open) => {
    const seed = inject("fuzzSeed") ?? Math.trunc(Math.random() * 2 ** 31);
    const { sent, kinds, answers, wrong, alive, faults } = await fuzz(cases, seed, open);
    const told = `${sent} sent ${JSON.stringify(kinds)}, answers ${JSON.stringify(answers)}`;
    process.stdout.write(`${name}: seed ${seed}, ${told}\n`);
    expect(wrong, `FUZZ_SEED=${seed} npm run test:fuzz`).toEqual([]);
    expect(faults).toEqual([]);
    expect(sent).toBe(cases);
    expect(alive).toBe(true);
  },
);
