import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { startPostgres } from "../../../testing/postgres.ts";
import { measureLatency, measureTakeover, measureThroughput } from "./measure-nodes.ts";
import { openCluster } from "./node-cluster.ts";
import { type NodesSummary, printReport, spread, writeReport } from "./report-nodes.ts";

/** Many nodes on one PostgreSQL. `npm run bench:nodes -- --short` for a quick look. */
const { values } = parseArgs({
  options: { kills: { type: "string" }, short: { type: "boolean", default: false }, out: { type: "string" } },
});
const kills = Number(values.kills ?? (values.short ? 5 : 50));
if (!Number.isInteger(kills) || kills < 1) throw new Error("--kills must be a whole number from 1");
const seconds = values.short ? 5 : 20;
const log = (line: string) => void process.stderr.write(`${line}\n`);
const postgres = await startPostgres({ durable: true });
const throughput: NodesSummary["throughput"] = [];
const cluster = await openCluster(postgres.url, 3);
try {
  for (const nodes of [1, 2, 3]) {
    await cluster.resize(nodes);
    const runs_per_second = await measureThroughput(cluster, seconds * 1_000);
    throughput.push({ nodes, runs_per_second });
    log(`${nodes} nodes: ${runs_per_second.toFixed(1)} runs/s`);
  }
  const latency = await measureLatency(cluster, values.short ? 10 : 60);
  log(`${latency.length} events seen through another node`);
  const takeover = await measureTakeover(cluster, kills, log);
  const summary: NodesSummary = {
    date: new Date().toISOString().slice(0, 10),
    load: loadavg()[0] ?? 0,
    kills,
    throughput,
    takeover_ms: spread(takeover),
    latency_ms: spread(latency),
    events: latency.length,
  };
  process.stdout.write(`${printReport(summary)}\n`);
  if (values.out) writeReport(values.out, summary);
} finally {
  await cluster.close();
  await postgres.stop();
}
