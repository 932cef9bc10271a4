import { openStorage, type Storage } from "@cognition/thread";
import { Client } from "pg";
import { afterEach, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../../testing/database.ts";
import { createMigratedDatabase } from "../../../thread/test/migrated-database.ts";
import type { Executor, RunResult, RunWork } from "../../src/run/executor.ts";
import { createRunEngine, type RunEngine } from "../../src/run/run-engine.ts";
import { until } from "../http/until.ts";

/** Nobody waits for it: what comes about at once came by a hint. */
const NEVER_MS = 600_000;
const SUCCEEDED: RunResult = { outcome: "succeeded", usage: null };

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

interface Node {
  storage: Storage;
  engine: RunEngine;
}

async function database(): Promise<TestDatabase> {
  const made = await createMigratedDatabase();
  cleanups.push(made.drop);
  return made;
}

async function startNode(uri: string, execute: Executor["execute"], max_runs = 8): Promise<Node> {
  const storage = await openStorage({ uri, pool: { min: 0, max: 4 } });
  cleanups.push(() => storage.close());
  return startOn(storage, execute, max_runs);
}

async function startOn(storage: Storage, execute: Executor["execute"], max_runs: number): Promise<Node> {
  const engine = createRunEngine({
    storage,
    saver: await storage.getCheckpointer(),
    executor: { execute, settle: async () => ({ assistant: null, usage: null }) },
    owner: "test",
    lease_ms: NEVER_MS,
    poll_ms: NEVER_MS,
    max_runs,
    onError: () => undefined,
  });
  engine.start();
  cleanups.push(() => engine.drain(0));
  return { storage, engine };
}

async function send({ storage, engine }: Node, scopes: Record<string, string> = {}) {
  const { id: session_id } = await storage.createSession({ scopes });
  const { run } = await engine.submit({ session_id });
  return { session_id, run_id: run.id };
}

/** Works until it is stopped, or told to hand over. */
async function endless({ signal, drain }: RunWork): Promise<RunResult> {
  const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  drain.addEventListener("abort", () => resolve({ outcome: "drained" }), { once: true });
  if (drain.aborted) resolve({ outcome: "drained" });
  return promise;
}

const statusOf = (storage: Storage, run_id: string, status: string) => async () =>
  (await storage.getRun(run_id)).status === status || undefined;

/** That its LISTEN is in place: hints sent before are not heard. */
async function untilListening(url: string, nodes: number, but: readonly number[] = []): Promise<number[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const query = `select pid from pg_stat_activity where datname = current_database()
    and application_name = 'cognition wake-ups' and query like 'listen%' and state = 'idle'`;
  try {
    return await until(`${nodes} listeners`, async () => {
      const pids = (await client.query<{ pid: number }>(query)).rows.map(({ pid }) => pid);
      return pids.length >= nodes && !pids.some((pid) => but.includes(pid)) ? pids : undefined;
    });
  } finally {
    await client.end();
  }
}

async function abortFromElsewhere(owner: Node, other: Node): Promise<void> {
  const { session_id, run_id } = await send(owner);
  await until("the run to begin", statusOf(owner.storage, run_id, "running"));
  await other.engine.abort(session_id);
  await until("the abort to reach its owner", statusOf(other.storage, run_id, "aborted"));
}

describe("nodes on one PostgreSQL", () => {
  it("an abort through any of them reaches the owner at once", async () => {
    const { url } = await database();
    const [owner, other] = [await startNode(url, endless), await startNode(url, endless)];
    await untilListening(url, 2);
    await abortFromElsewhere(owner, other);
  });

  it("and does again after the connections on which they listen were cut", async () => {
    const { url } = await database();
    const [owner, other] = [await startNode(url, endless), await startNode(url, endless)];
    const pids = await untilListening(url, 2);
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("select pg_terminate_backend(pid) from unnest($1::int[]) pid", [pids]);
    await client.end();
    await untilListening(url, 2, pids);
    await abortFromElsewhere(owner, other);
  });

  it("what a node hands over at its shutdown goes on elsewhere with no wait", async () => {
    const { url } = await database();
    // Either may be the first to claim it, whoever it was sent to.
    const owners: number[] = [];
    const workAs = (node: number) => async (work: RunWork) => (owners.push(node) === 1 ? endless(work) : SUCCEEDED);
    const nodes = [await startNode(url, workAs(0)), await startNode(url, workAs(1))] as const;
    await untilListening(url, 2);
    const { run_id } = await send(nodes[0]);
    const owner = await until("the run to begin", async () => owners[0]);
    await nodes[owner as 0 | 1].engine.drain(NEVER_MS);
    await until("the run to end elsewhere", statusOf(nodes[0].storage, run_id, "succeeded"));
    expect(await nodes[0].storage.getRun(run_id)).toMatchObject({ attempt: 2 });
    expect(owners).toEqual([owner, 1 - owner]);
  });

  it("a scope with a long line of runs does not make another one wait for its end", async () => {
    const { url } = await database();
    const begun: string[] = [];
    const first = Promise.withResolvers<RunResult>();
    const node = await startNode(
      url,
      (work) => (begun.push(work.claimed.session.scopes["user"] ?? "") === 1 ? first.promise : endless(work)),
      4,
    );
    for (let n = 0; n < 30; n++) await send(node, { user: "many" });
    await expect.poll(() => begun).toEqual(["many", "many", "many", "many"]);
    await send(node, { user: "one" });
    first.resolve(SUCCEEDED);
    // The next place that is free is the other's.
    await expect.poll(() => begun).toEqual(["many", "many", "many", "many", "one"]);
  });

  it("a scope that has half of the places begins at once only where no other waits, though nobody told of one", async () => {
    const storage = await openStorage("memory");
    cleanups.push(() => storage.close());
    const letFirst: unknown[] = [];
    const watched: Storage = {
      ...storage,
      createRun: (run) => {
        letFirst.push(run.claim?.unless_waiting_outside);
        return storage.createRun(run);
      },
    };
    const node = await startOn(watched, endless, 4);
    for (let n = 0; n < 3; n++) await send(node, { user: "many" });
    await send(node, { user: "one" });
    expect(letFirst).toEqual([[], [], [{ user: "many" }], [{ user: "many" }]]);
  });
});
