import { availableParallelism } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { ContractsFirst } from "./testing/contracts-first.ts";

// "cognition-source" lets the packages import each other's TypeScript with no build in between. Naming a condition replaces
// Vite's own list, so the rest of it stands here too.
const conditions = ["cognition-source", "module", "node", "development|production"];

const reports = process.env["TEST_REPORT_DIR"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, "**/*.slow.test.ts"],
    tags: [{ name: "long", description: "Takes its time: `npm run check` leaves it out, `npm run test:long` has it." }],
    // Vitest would leave one core free; but tests wait for databases and processes as much as they compute: a third worker keeps
    // two cores busy meanwhile.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // A test makes much and keeps nothing: with room for what is young, what it computes is a tenth less.
    execArgv: ["--min-semi-space-size=16", "--max-semi-space-size=64"],
    globalSetup: ["testing/global-setup.ts"],
    sequence: { sequencer: ContractsFirst },
    // A process keeps what it has imported from one file to the next: LangChain alone takes a second.
    isolate: false,
    // Deadlines for a machine that is busy with other things: what is right is right away everywhere else.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Where others wait for the outcome, what stumbled over the machine may try once more. `.ci/run` names each such test.
    retry: process.env["CI"] ? 1 : 0,
    expect: { poll: { timeout: 20_000, interval: 20 } },
    teardownTimeout: 60_000,
    reporters: reports ? ["default", "json"] : ["default"],
    // One file for each vitest process, so that the suites of one test run do not overwrite each other's counts.
    ...(reports && { outputFile: { json: join(reports, `vitest-${process.pid}.json`) } }),
  },
});
