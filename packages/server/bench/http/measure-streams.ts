import { Agent, get, type IncomingMessage } from "node:http";
import type { Reconnect, SideClient } from "./http-side.ts";
import { createThreads } from "./measure-rate.ts";
import type { ServerProcess } from "./server-process.ts";

/** Longer than anything here takes. */
const WAITING = "wait 600000 ms";

/** Milliseconds from a request with a position to the first byte of what was missed, on a run that goes on meanwhile. */
export async function measureReconnects(server: ServerProcess, client: SideClient, count: number): Promise<number[]> {
  const thread = await client.createThread();
  const request = client.reconnect(thread, await client.submit(thread, WAITING));
  const agent = new Agent({ keepAlive: false });
  const times: number[] = [];
  // The first one waits until the run has said something.
  for (let n = 0; n <= count; n++) {
    const start = performance.now();
    const response = await open(server.url, request, agent);
    await new Promise((resolve) => response.once("data", resolve));
    if (n > 0) times.push(performance.now() - start);
    response.destroy();
  }
  return times;
}

export interface IdleStreams {
  readonly streams: number;
  readonly rss_bytes: number;
  readonly held_bytes: number;
}

/** What each stream of a run that says nothing adds to the server's memory; the runs are there before. */
export async function measureIdle(server: ServerProcess, client: SideClient, streams: number): Promise<IdleStreams> {
  const requests: Reconnect[] = [];
  for (const thread of await createThreads(client, streams)) {
    requests.push(client.reconnect(thread, await client.submit(thread, WAITING)));
  }
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  // What the first connections load and compile is not a stream's.
  const [first, ...others] = requests as [Reconnect, ...Reconnect[]];
  (await open(server.url, first, agent)).resume();
  const before = await server.memory();
  for (const request of others) (await open(server.url, request, agent)).resume();
  const after = await server.memory();
  agent.destroy();
  return {
    streams,
    rss_bytes: (after.rss - before.rss) / others.length,
    held_bytes: (after.held - before.held) / others.length,
  };
}

function open(url: string, { path, headers }: Reconnect, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(`${url}${path}`, { agent, headers }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`${path} answered ${response.statusCode}`));
    });
    // An error after the answer is this side's own leaving.
    request.once("error", reject);
  });
}
