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
    executor: { execute, settle: async () => ({ usage: null }) },
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

/** Nobody writes to any thread until they are unlocked. */
async function lockThreads(url: string) {
  const [client, looker] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
  await Promise.all([client.connect(), looker.connect()]);
  await client.query("begin; select pk from threads for update");
  const waiting = `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  const unlock = async () => {
    await client.query("commit");
    await Promise.all([client.end(), looker.end()]);
  };
  return {
    unlock,
    untilWaiting: (count: number) =>
      until(`${count} who wait`, async () => (await looker.query(waiting)).rows[0].n >= count || undefined),
  };
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

  it.each([
    ["at a step", { drain: NEVER_MS, as: "queued" }],
    ["in a hurry", { drain: 0, as: "queued" }],
    ["to ask a human", { drain: null, as: "waiting_for_approval" }],
  ])("what a run has on its way to the storage is stored before its node lets go of it %s", async (_how, leaves) => {
    const { url } = await database();
    const asking = Promise.withResolvers<RunResult>();
    const begun = Promise.withResolvers<RunWork>();
    const { storage, engine } = await startNode(url, (work) => {
      begun.resolve(work);
      const hurried = { ...work, drain: new AbortController().signal };
      return Promise.race([asking.promise, endless(leaves.drain === 0 ? hurried : work)]);
    });
    const { session_id, run_id } = await send({ storage, engine });
    const { log } = await begun.promise;
    const saver = await storage.getCheckpointer();
    const flushing = Promise.withResolvers<true>();
    const flush = saver.flush.bind(saver);
    saver.flush = (...of) => {
      flushing.resolve(true);
      return flush(...of);
    };
    const thread = await lockThreads(url);
    log.emit("custom", { n: 1 });
    await thread.untilWaiting(1);
    log.emit("custom", { n: 2 }); // its turn comes after the first
    const ask = () => asking.resolve({ outcome: "waiting", interrupts: [] });
    const drained = leaves.drain === null ? ask() : engine.drain(leaves.drain);
    // Who does not wait for what is on its way would be the next in line for the thread.
    await Promise.race([flushing.promise, thread.untilWaiting(2)]);
    await thread.unlock();
    await drained;
    await until("the run to be let go of", statusOf(storage, run_id, leaves.as));
    const { events } = await storage.readEvents({ session_id, types: ["custom"] });
    expect(events).toMatchObject([{ data: { n: 1 } }, { data: { n: 2 } }]);
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
