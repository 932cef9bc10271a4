import { openStorage } from "@cognition/thread";
import { compose } from "../../../src/compose.ts";
import { loadConfig } from "../../../src/config.ts";

/** A node that works on the runs there are, until it is killed or told to leave. */
const [uri = "", workspace_root = "", environment = "{}"] = process.argv.slice(2);
const env = JSON.parse(environment) as Record<string, string>;
const storage = await openStorage(uri);
const runtime = await compose({
  storage,
  workspace_root,
  env,
  config: loadConfig({ env, cwd: workspace_root }).config,
  engine: { lease_ms: 2_000 },
  onError: (error) => process.stderr.write(`${error}\n`),
});
process.once("SIGTERM", () => void leave());
runtime.engine.start();

async function leave(): Promise<void> {
  await runtime.close(0);
  await storage.close();
  process.exit(0);
}
