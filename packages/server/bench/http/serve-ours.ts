import { join } from "node:path";
import { openStorage } from "@cognition/thread";
import { defaultConfig } from "../../src/config.ts";
import { startServer } from "../../src/main.ts";
import { createServerLog } from "../../src/telemetry/server-log.ts";
import { graph } from "./echo-graph.ts";
import { tellParent } from "./tell-parent.ts";

/** As `cognition serve` runs it, with all defaults: SQLite with `synchronous=FULL`, a log line per request. */
const [folder = "."] = process.argv.slice(2);
const config = defaultConfig();
const log = createServerLog({ config, env: {}, output: process.stdout });
const server = await startServer({
  storage: await openStorage(join(folder, "state.db")),
  workspace_root: folder,
  env: { PATH: process.env["PATH"] },
  config,
  graphs: { echo: graph },
  port: 0,
  log,
  onError: (error) => void process.stderr.write(`${String(error)}\n`),
});
tellParent(server.url);
