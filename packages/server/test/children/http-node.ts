import { openStorage } from "@cognition/thread";
import { startServer } from "../../src/main.ts";

/** A server in a process of its own, to be killed; says its address when it listens. */
const { uri, root, port } = JSON.parse(process.argv[2] ?? "null") as { uri: string; root: string; port: number };
const storage = await openStorage(uri);
const server = await startServer({
  storage,
  workspace_root: root,
  env: { PATH: process.env["PATH"] },
  port,
  engine: { poll_ms: 20, lease_ms: 2_000 },
  signals: process,
  onError: () => undefined,
});
process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port })}\n`);
await server.closed;
await storage.close();
