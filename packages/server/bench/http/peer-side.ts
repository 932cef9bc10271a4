import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { freePort } from "../../../../testing/free-port.ts";
import type { HttpSide, SideClient } from "./http-side.ts";
import { PEER_FOLDER } from "./peer-packages.ts";
import { startProcess } from "./server-process.ts";

/** As far as it is used here: the workspace has no such package, and so no types of it. */
interface PeerSdk {
  Client: new (options: { apiUrl: string }) => PeerClient;
}

interface PeerClient {
  threads: { create(): Promise<{ thread_id: string }> };
  runs: {
    stream(thread: string, graph: string, payload: object): AsyncIterable<{ event: string; data: unknown }>;
    create(thread: string, graph: string, payload: object): Promise<{ run_id: string }>;
    get(thread: string, run: string): Promise<{ status: string }>;
  };
}

/** How many runs its `dev` command works on at once, unless it is told. */
const DEFAULT_WORKERS = 10;

export async function openPeerSide(workers = DEFAULT_WORKERS): Promise<HttpSide> {
  const file = createRequire(join(PEER_FOLDER, "package.json")).resolve("@langchain/langgraph-sdk");
  const { Client }: PeerSdk = await import(pathToFileURL(file).href);
  const program = join(PEER_FOLDER, "serve-peer.ts");
  return {
    name: "langgraph-api",
    start: async (folder) => startProcess(program, [folder, String(workers), String(await freePort())]),
    connect: (apiUrl) => connect(new Client({ apiUrl })),
  };
}

function connect(client: PeerClient): SideClient {
  const payload = (text: string) => ({
    input: { messages: [{ role: "user", content: text }] },
    streamMode: "values",
    streamResumable: true,
  });
  return {
    createThread: async () => (await client.threads.create()).thread_id,
    run: async (thread, text) => {
      const start = performance.now();
      let first_event_ms: number | undefined;
      let last: unknown;
      for await (const { data } of client.runs.stream(thread, "echo", payload(text))) {
        first_event_ms ??= performance.now() - start;
        last = data;
      }
      const said = (last as { messages?: { content: string }[] } | undefined)?.messages ?? [];
      if (said.length !== 2 || said[1]?.content !== text || first_event_ms === undefined) {
        throw new Error(`the echo was ${JSON.stringify(last)}`);
      }
      return { first_event_ms, whole_ms: performance.now() - start };
    },
    submit: async (thread, text) => (await client.runs.create(thread, "echo", payload(text))).run_id,
    hasSucceeded: async (thread, run) => {
      try {
        return (await client.runs.get(thread, run)).status === "success";
      } catch (error) {
        if ((error as { status?: number }).status === 404) return false;
        throw error;
      }
    },
    reconnect: (thread, run) => ({
      path: `/threads/${thread}/runs/${run}/stream`,
      headers: { Accept: "text/event-stream", "Last-Event-ID": "0" },
    }),
  };
}
