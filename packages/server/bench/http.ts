import { parseArgs } from "node:util";
import { measureHttp, type Plan } from "./http/measure-http.ts";
import { ourSide } from "./http/our-side.ts";
import { installPeer } from "./http/peer-packages.ts";
import { openPeerSide } from "./http/peer-side.ts";
import { printReport, writeReport } from "./http/report-http.ts";
import { summarise } from "./http/summary-http.ts";

/** The server beside LangGraph's own, on the same graph. `npm run bench:http -- --short` for a quick look. */
const { values } = parseArgs({
  options: {
    rounds: { type: "string" },
    short: { type: "boolean", default: false },
    ours: { type: "boolean", default: false },
    "peer-workers": { type: "string" },
    out: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? (values.short ? 1 : 3));
const workers = values["peer-workers"] === undefined ? undefined : Number(values["peer-workers"]);
if (![rounds, workers ?? 1].every((n) => Number.isInteger(n) && n >= 1)) {
  throw new Error("--rounds and --peer-workers must be whole numbers from 1");
}
const plan: Plan = values.short
  ? {
      rounds,
      runs: new Map([
        [1, 15],
        [50, 200],
      ]),
      reconnects: 20,
      idle_streams: 100,
      killed_runs: 20,
    }
  : {
      rounds,
      runs: new Map([
        [1, 40],
        [50, 600],
      ]),
      reconnects: 100,
      idle_streams: 500,
      killed_runs: 50,
    };
const log = (line: string) => void process.stderr.write(`${line}\n`);
const sides = [ourSide];
if (!values.ours) {
  installPeer(log);
  sides.push(await openPeerSide(workers));
}
const summary = summarise(await measureHttp(sides, plan, log), plan);
process.stdout.write(`${printReport(summary)}\n`);
const isFull = !(values.short || values.ours || workers !== undefined);
const out = values.out ?? (isFull ? "docs/bench" : undefined);
if (out) writeReport(out, summary);
