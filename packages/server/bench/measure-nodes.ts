import { Client as Database } from "pg";
import type { Cluster, NodeClient } from "./node-cluster.ts";

/** Enough for no node to wait for work, on as many threads. */
const CLIENTS_PER_NODE = 8;
const HELLO = "Hello, who are you?";
/** Works for longer than any takeover takes. */
const LONG = 'Use the ponder tool with note="long"';

/** Messages to all nodes in turn, each on a thread of its own, for so long. */
export async function measureThroughput({ running }: Cluster, during_ms: number): Promise<number> {
  let runs = 0;
  let until = Number.POSITIVE_INFINITY;
  const customer = async ({ client }: NodeClient) => {
    const { id } = await client.createSession({});
    await client.sendMessage(id, HELLO).rest(); // loads what a node loads once
    until = Math.min(until, performance.now() + during_ms);
    while (performance.now() < until) {
      await client.sendMessage(id, HELLO).rest();
      if (performance.now() < until) runs++;
    }
  };
  await Promise.all(running.flatMap((one) => Array.from({ length: CLIENTS_PER_NODE }, () => customer(one))));
  return (runs * 1_000) / during_ms;
}

/** How much later than its first reader anywhere a reader on another node gets an event. */
export async function measureLatency({ running }: Cluster, messages: number): Promise<number[]> {
  const [first] = running;
  if (!first) throw new Error("no node runs");
  const { id } = await first.client.createSession({});
  const seen = new Map<number, number[]>();
  const stop = new AbortController();
  const read = async ({ client }: NodeClient) => {
    for await (const event of client.followEvents(id, { after: 0, signal: stop.signal })) {
      if (event.event === "reset") continue;
      seen.set(event.id, [...(seen.get(event.id) ?? []), performance.now()]);
    }
  };
  const readers = running.map((one) => read(one).catch(() => undefined)); // stopped
  for (let n = 0; n < messages; n++) await running[n % running.length]?.client.sendMessage(id, HELLO).rest();
  stop.abort();
  await Promise.all(readers);
  return [...seen.values()].flatMap(([base = 0, ...later]) => later.map((time) => time - base));
}

/** From the death of a run's node to the first word of the node that goes on with it, as a client hears it. */
export async function measureTakeover(cluster: Cluster, kills: number, log: (line: string) => void): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < kills; n++) {
    const took = await killOnce(cluster, n);
    times.push(took);
    log(`kill ${n + 1}: taken over after ${took.toFixed(0)} ms`);
    await cluster.resize(cluster.running.length + 1);
  }
  return times;
}

async function killOnce({ running, url }: Cluster, turn: number): Promise<number> {
  const asked = running[turn % running.length] as NodeClient;
  const { id } = await asked.client.createSession({});
  const run = await asked.client.submitMessage(id, LONG);
  for await (const event of asked.client.followRun(id, run.id)) if (event.event === "tool_call") break;
  const owner = await ownerOf(url, run.id);
  const victim = running.find(({ node }) => node.name === owner);
  const reader = running.find(({ node }) => node.name !== owner);
  if (!victim || !reader) throw new Error(`${owner} has the run, and is not among those that run`);
  const killed = performance.now();
  await victim.node.end("SIGKILL");
  for await (const event of reader.client.followEvents(id, { after: 0 })) {
    if (event.event === "status" && event.data.status === "resuming") return performance.now() - killed;
  }
  throw new Error("the stream ended before the run was taken over");
}

async function ownerOf(url: string, run_id: string): Promise<string | null> {
  const database = new Database({ connectionString: url });
  await database.connect();
  try {
    const query = "select t.lease_owner from runs r join threads t on t.pk = r.thread where r.id = $1";
    const { rows } = await database.query<{ lease_owner: string | null }>(query, [run_id]);
    return rows[0]?.lease_owner ?? null;
  } finally {
    await database.end();
  }
}
