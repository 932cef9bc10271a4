import { configDefaults, defineConfig } from "vitest/config";
import fast from "./vitest.config.ts";

const seed = process.env["FUZZ_SEED"];
const fuzzSeed = seed === undefined ? undefined : Number(seed);

/** Suites that build, pack, kill processes or measure. `--mode=short` asks them for fewer rounds. */
export default defineConfig(({ mode }) => ({
  ...fast,
  test: {
    ...fast.test,
    include: ["packages/*/test/**/*.slow.test.ts", "test/**/*.slow.test.ts"],
    exclude: configDefaults.exclude,
    provide: { short: mode === "short", fuzzSeed },
    // They measure time and load the machine: two at once would disturb each other.
    fileParallelism: false,
    isolate: true,
    // Nor with another heap than a user has.
    execArgv: [],
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
}));
