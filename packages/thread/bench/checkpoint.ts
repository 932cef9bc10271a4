import { startPostgres } from "../../../testing/postgres.ts";
import { measureAll } from "./measure.ts";
import { installOfficial } from "./official-packages.ts";
import { parseOptions } from "./options.ts";
import { printReport, writeReport } from "./report.ts";
import { summarise } from "./summary.ts";
import { judge } from "./targets.ts";

/** Our checkpointer beside the official ones and none at all. `npm run bench:checkpoint -- --short` for a quick look. */
const options = parseOptions(process.argv.slice(2));
const log = (line: string) => void process.stderr.write(`${line}\n`);
if (!options.ours) installOfficial(log);
const server = await startPostgres({ durable: true });
try {
  const summary = summarise(await measureAll(options, server.url, log));
  const verdicts = judge(summary);
  process.stdout.write(`${printReport(summary, verdicts)}\n`);
  if (options.out) writeReport(options.out, summary, verdicts);
} finally {
  await server.stop();
}
