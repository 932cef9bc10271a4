import { readFileSync } from "node:fs";
import pg from "pg";
import { messageCount, runAgent } from "./agent.ts";
import { type OpenSide, openSide, type Place } from "./open-side.ts";
import { countRoundTrips } from "./round-trips.ts";
import { type Side, sideNamed } from "./sides.ts";
import { median } from "./statistics.ts";

/** A process of its own: one side, one length. Prints what it measured as JSON. */
export interface RunInput {
  side: string;
  steps: number;
  place: Place;
  /** A place to warm the code up in, so that the first steps are not those of a cold process. */
  warmUp: Place;
}

export interface RunResult {
  first_ms: number;
  last_ms: number;
  mean_ms: number;
  /** Of this process: other work on the machine shows in it less than in the times. */
  cpu_ms: number;
  written_bytes: number | null;
  round_trips: number | null;
  durable_commits: number;
  rss_bytes: number;
  /** Only for what has no other process to be read from. */
  read_ms: number | null;
}

export const THREAD = "bench";
const WARM_UP_STEPS = 60;
/** The first steps open connections and prepare statements; then come as many as the last ones that are looked at. */
const LEFT_OUT = 10;
const WINDOW = 40;
const READS = 5;

if (process.argv[1] === import.meta.filename) await main();

async function main(): Promise<void> {
  const input = JSON.parse(process.argv[2] ?? "null") as RunInput;
  const side = sideNamed(input.side);
  const roundTrips = side.engine === "postgres" ? countRoundTrips() : undefined;
  const warm = await openSide(side, input.warmUp);
  await runAgent(warm.saver, THREAD, WARM_UP_STEPS);
  await warm.close();
  const open = await openSide(side, input.place);
  globalThis.gc?.();
  const before = {
    written: await writtenBytes(side, input.place),
    trips: roundTrips?.(),
    commits: open.durableCommits(),
  };
  const cpu = process.cpuUsage();
  const times = await runAgent(open.saver, THREAD, input.steps);
  const { user, system } = process.cpuUsage(cpu);
  const { steps } = input;
  const trips = roundTrips && roundTrips() - (before.trips ?? 0);
  const commits = open.durableCommits() - before.commits;
  const written = await writtenBytes(side, input.place);
  globalThis.gc?.();
  const rss_bytes = process.memoryUsage().rss;
  const read_ms = side.engine === "memory" ? await readAgain(open, steps) : null;
  await open.close();
  const result: RunResult = {
    first_ms: median(times.slice(LEFT_OUT, LEFT_OUT + WINDOW)),
    last_ms: median(times.slice(-WINDOW)),
    mean_ms: times.slice(LEFT_OUT).reduce((sum, ms) => sum + ms, 0) / (times.length - LEFT_OUT),
    cpu_ms: (user + system) / 1_000 / steps,
    written_bytes: written === null || before.written === null ? null : (written - before.written) / steps,
    round_trips: trips === undefined ? null : trips / steps,
    durable_commits: commits / steps,
    rss_bytes,
    read_ms,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** Given to the file so far, or logged by the server. Null where neither can be told. */
async function writtenBytes({ engine }: Side, place: Place): Promise<number | null> {
  if (engine === "postgres") return walPosition(place as string);
  if (engine !== "sqlite" || process.platform !== "linux") return null;
  return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

async function walPosition(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select pg_current_wal_lsn() - '0/0'::pg_lsn as position");
  await client.end();
  return Number(rows[0].position);
}

async function readAgain({ saver }: OpenSide, steps: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < READS; i++) times.push(await timeRead(saver, steps));
  return median(times);
}

/** Milliseconds to get the newest checkpoint with all its messages. */
export async function timeRead(saver: OpenSide["saver"], steps: number): Promise<number> {
  const start = performance.now();
  const tuple = await saver?.getTuple({ configurable: { thread_id: THREAD } });
  const ms = performance.now() - start;
  const messages = tuple?.checkpoint.channel_values["messages"] as unknown[] | undefined;
  if (messages?.length !== messageCount(steps))
    throw new Error(`The state came back with ${messages?.length} messages`);
  return ms;
}
