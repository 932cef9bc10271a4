import { parseArgs } from "node:util";
import { openDurableSide } from "./durable-side.ts";
import { openInProcessSide } from "./in-process-side.ts";
import { measureRuns } from "./measure-runs.ts";
import { printReport, writeReport } from "./report-runs.ts";
import { DURABLE, IN_PROCESS, summarise } from "./summary-runs.ts";
import { WORKLOADS, type Workload } from "./workload.ts";

/** Runs of the default agent beside the same agent with nothing around it. `npm run bench:runs -- --short` for a quick look. */
const { values } = parseArgs({
  options: {
    rounds: { type: "string" },
    threads: { type: "string" },
    short: { type: "boolean", default: false },
    out: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? (values.short ? 1 : 5));
const threads = values.threads?.split(",").map(Number) ?? [1, 20, 100];
if (![rounds, ...threads].every((n) => Number.isInteger(n) && n >= 1)) {
  throw new Error("--rounds and --threads must be whole numbers from 1");
}
const out = values.out ?? (values.short || values.threads ? undefined : "docs/bench");
const log = (line: string) => void process.stderr.write(`${line}\n`);
const sides = {
  [IN_PROCESS.deepagents]: openInProcessSide("all"),
  [IN_PROCESS.ours]: openInProcessSide("ours"),
  [DURABLE]: await openDurableSide((error) => log(String(error))),
};
const workloads = Object.keys(WORKLOADS) as Workload[];
const summary = summarise(await measureRuns(sides, { rounds, threads, workloads }, log));
process.stdout.write(`${printReport(summary)}\n`);
if (out) writeReport(out, summary);
await sides[DURABLE].close();
