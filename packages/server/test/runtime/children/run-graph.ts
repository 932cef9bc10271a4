import { openStorage } from "@cognition/thread";
import { compose } from "../../../src/index.ts";

/** A node that works on the runs there are, until it is killed. */
const [uri = "", workspace_root = "", module = ""] = process.argv.slice(2);
const runtime = await compose({
  storage: await openStorage(uri),
  workspace_root,
  env: { PATH: process.env["PATH"] },
  graphs: { own: `${module}#graph` },
  engine: { lease_ms: 2_000 },
  onError: (error) => process.stderr.write(`${error}\n`),
});
runtime.engine.start();
