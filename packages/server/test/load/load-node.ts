import { openStorage } from "@cognition/thread";
import { startServer } from "../../src/main.ts";

/** A server in a process of its own, whose sessions all say something at the same time, so many times a second. */
export interface LoadNodeOptions {
  readonly uri: string;
  readonly root: string;
  readonly sessions: number;
  readonly events: number;
  readonly per_second: number;
}

export type LoadNodeLine =
  | { readonly url: string; readonly session_ids: readonly string[] }
  | { readonly rss: number; readonly streams: number; readonly held: number }
  | { readonly told_in_ms: number };

const SAMPLE_MS = 500;
const { uri, root, sessions, events, per_second } = JSON.parse(process.argv[2] ?? "null") as LoadNodeOptions;
const storage = await openStorage(uri);
const server = await startServer({
  storage,
  workspace_root: root,
  env: { PATH: process.env["PATH"] },
  port: 0,
  signals: process,
  onError: (error) => void process.stderr.write(`${String(error)}\n`),
});
const made = await Promise.all(Array.from({ length: sessions }, () => storage.createSession({})));
const session_ids = made.map(({ id }) => id);

function say(line: LoadNodeLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** What is held: with what nobody refers to any more, it would be a matter of when the engine last swept. */
function memory() {
  const rss = process.memoryUsage.rss();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { rss, held: heapUsed + external };
}

/** By the clock, not by a pause after each: a machine that can't keep up falls behind, and the figures show it. */
async function tell(): Promise<void> {
  const begun = performance.now();
  for (let n = 0; n < events; n++) {
    const early = begun + (n * 1_000) / per_second - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const data = { message_id: "m", content: `word ${n} ` };
    await Promise.all(
      session_ids.map((session_id) => storage.appendEvents({ session_id, events: [{ event: "token", data }] })),
    );
  }
  say({ told_in_ms: performance.now() - begun });
}

process.stdin.once("data", () => {
  const sampling = setInterval(() => say({ ...memory(), streams: server.runtime.http.streams.open }), SAMPLE_MS);
  void tell().finally(() => clearInterval(sampling));
});
say({ url: server.url, session_ids });
await server.closed;
process.stdin.destroy();
await storage.close();
