import { openStorage } from "@cognition/thread";
import { defaultConfig } from "../../src/config.ts";
import { startServer } from "../../src/main.ts";
import { VERSION } from "../../src/version.ts";
import { createCrashTools } from "../crash/crash-tools.ts";
import { openLedger } from "../crash/ledger.ts";
import { type Mutant, switchOff } from "./mutants.ts";

/** On a node's command line. */
export interface ChaosNodeInput {
  uri: string;
  root: string;
  port: number;
  ledger: string;
  owner: string;
  lease_ms?: number;
  poll_ms?: number;
  /** What this node leaves out that others rely on. */
  mutant?: Mutant;
}

/** Streams fall silent for no longer than this: a client that hears nothing for longer goes to another node. */
const HEARTBEAT_S = 1;
const RETRY_MS = 100;

/** A whole server on a PostgreSQL that others use too. Says its address when it listens, and then what went wrong. */
const input = JSON.parse(process.argv[2] ?? "null") as ChaosNodeInput;
const config = defaultConfig();
const { lease_ms, poll_ms, owner } = input;
const ledger = openLedger(input.ledger);
const opened = await openStorage({ uri: input.uri, pool: { min: 0, max: 8 } });
const storage = await switchOff(opened, input.mutant, input.uri);
const server = await startServer({
  storage,
  workspace_root: input.root,
  env: { PATH: process.env["PATH"] },
  config: { ...config, sse: { ...config.sse, heartbeat_interval: HEARTBEAT_S, retry_interval: RETRY_MS } },
  port: input.port,
  tools: createCrashTools(
    { ...ledger, write: (entry) => ledger.write(entry.t === "effect" ? { ...entry, node: owner } : entry) },
    { pass: () => undefined },
  ),
  engine: { owner, ...(lease_ms !== undefined && { lease_ms }), ...(poll_ms !== undefined && { poll_ms }) },
  signals: process,
  onError: (error, run_id) => say({ error: String(error), run_id }),
});
say({ url: server.url, port: server.port, version: VERSION });
await server.closed;
await storage.close();

function say(what: unknown): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
