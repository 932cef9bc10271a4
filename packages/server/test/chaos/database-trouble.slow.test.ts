import { randomUUID } from "node:crypto";
import type { Health, Message, Run } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { Client } from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createDatabase } from "../../../../testing/database.ts";
import { startSilentProxy } from "../../../thread/test/silent-proxy.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";
import { until } from "../http/until.ts";

const WITHIN_MS = 60_000;

async function newDatabase(): Promise<string> {
  const { url, drop } = await createDatabase(inject("postgresUrl"));
  onTestFinished(drop);
  return url;
}

/** Somebody else's connection to the same database. */
async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: "somebody else" });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

interface Tried {
  tools: ToolDefinition[];
  effects: string[];
  open(): void;
}

/** Two tools that leave a trace each time they run: `note` at once, and `gate`, which ends when it is opened. */
function trackedTools(): Tried {
  const effects: string[] = [];
  const gate = Promise.withResolvers<void>();
  const common = { schema: z.object({ note: z.string() }), on_crash: "never", effect: "write" } as const;
  const note = defineTool({
    ...{ ...common, name: "jot", description: "Notes something down" },
    run: async ({ note }) => `noted ${effects.push(note)}`,
  });
  const wait = defineTool({
    ...{ ...common, name: "gate", description: "Waits until it is opened" },
    run: async ({ note }) => {
      effects.push(note);
      await gate.promise;
      return "opened";
    },
  });
  return { tools: [note, wait] as ToolDefinition[], effects, open: gate.resolve };
}

async function startNode(
  uri: string,
  tools: ToolDefinition[],
  pool: { max: number; wait_ms?: number },
  lease_ms = 20_000,
): Promise<TestServer> {
  const storage = await openStorage({ uri, pool: { min: 0, ...pool } });
  onTestFinished(() => storage.close());
  return startTestServer({ storage, tools, engine: { poll_ms: 50, lease_ms } });
}

function post(node: TestServer, session_id: string, content: string, key: string = randomUUID()): Promise<Response> {
  const headers = { Prefer: "respond-async", "Idempotency-Key": key };
  return node.fetch(`/sessions/${session_id}/messages`, { method: "POST", json: { content }, headers });
}

/** As a client does: what is answered with 503 is sent again under its key. */
async function accepted(
  node: TestServer,
  session_id: string,
  content: string,
  first?: Promise<Response>,
  key?: string,
) {
  const own = key ?? randomUUID();
  let response = await (first ?? post(node, session_id, content, own));
  const codes: string[] = [];
  while (response.status === 503) {
    codes.push(((await response.json()) as { code: string }).code);
    response = await post(node, session_id, content, own);
  }
  expect(response.status).toBe(202);
  return { run: (await response.json()) as Run, codes };
}

const ready = (node: TestServer, status: number) => async () => {
  const response = await node.fetch("/ready");
  return response.status === status ? ((await response.json()) as { reasons: string[] }) : undefined;
};

const unhealthy = (node: TestServer) => async () => {
  const health = (await (await node.fetch("/health")).json()) as Health;
  return health.status === "unhealthy" ? health : undefined;
};

const metricsWith = (node: TestServer, line: string) => async () => {
  const text = await (await node.fetch("/metrics")).text();
  return text.split("\n").includes(line) ? text : undefined;
};

async function ended(storage: Storage, run_id: string): Promise<Run> {
  return until(
    `run ${run_id} to end`,
    async () => {
      const run = await storage.getRun(run_id).catch(() => undefined);
      return run && ["succeeded", "failed", "aborted"].includes(run.status) ? run : undefined;
    },
    WITHIN_MS,
  );
}

/** That every event is there once, in order, and that each of the runs has one end. */
async function checkLog(storage: Storage, session_id: string, runs: readonly Run[]): Promise<void> {
  const { events } = await storage.readEvents({ session_id, limit: 1000 });
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
  const ends = events.filter(({ event }) => event === "done").map(({ run_id }) => run_id);
  expect(ends).toEqual(runs.map(({ id }) => id));
}

async function inputsOf(storage: Storage, session_id: string): Promise<Message["content"][]> {
  const { messages } = await storage.getMessagesBySession(session_id, { order: "asc", role: "user" });
  return messages.map(({ content }) => content);
}

/** How many of the nodes' own connections wait for a lock. */
async function stuck(client: Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where datname = current_database()
      and application_name = 'cognition' and wait_event_type = 'Lock'`,
  );
  return rows[0]?.n ?? 0;
}

describe("a node whose database is in trouble", { timeout: 2 * WITHIN_MS }, () => {
  it("with every connection of its pool taken: /ready says so, what was accepted waits and goes on, each once", async () => {
    const url = await newDatabase();
    const { tools, effects, open } = trackedTools();
    const node = await startNode(url, tools, { max: 2, wait_ms: 300 }, 1_500);
    const storage = await openStorage({ uri: url, pool: { min: 0, max: 2 } }); // not the node's, which is in trouble
    onTestFinished(() => storage.close());
    // On a busy machine a connection may take longer than the node waits for one.
    const create = () => until("a session", () => node.createSession().catch(() => undefined), WITHIN_MS);
    const { id } = await create();
    const others = [await create(), await create(), await create(), await create()];
    const first = await accepted(node, id, 'Use the gate tool with note="first"');
    const second = await accepted(node, id, 'Use the jot tool with note="second"');
    await until("the tool to run", async () => effects.length === 1 || undefined, WITHIN_MS);

    const blocker = await connect(url);
    const watcher = await connect(url);
    await blocker.query("begin; lock table threads in access exclusive mode");
    const keys = others.map(() => randomUUID());
    const sent = others.map((session, n) => post(node, session.id, "Hello", keys[n]));
    await until("the pool to be exhausted", async () => (await stuck(watcher)) === 2 || undefined, WITHIN_MS);
    const { reasons } = await until("the node not to be ready", ready(node, 503), WITHIN_MS);
    expect(reasons).toEqual(["The storage does not do its work"]);
    expect(await until("/health to say so too", unhealthy(node), WITHIN_MS)).toMatchObject({
      storage: { backend: "postgres", ok: false, latency_ms: null },
      circuit_breakers: {},
    });
    const figures = await until("/metrics to say so too", metricsWith(node, "cognition_storage_up 0"), WITHIN_MS);
    expect(figures).toMatch(/^cognition_active_runs 1$/m);
    open(); // its result waits for a connection in vain, for longer than a question that is asked after it
    await until("the node still not to be ready", ready(node, 503), WITHIN_MS);
    const refused = await Promise.race(sent.map(async (response) => (await response).status));
    expect(refused).toBe(503);
    await blocker.query("rollback");

    await until("the node to be ready", ready(node, 200), WITHIN_MS);
    const runs = [await ended(storage, first.run.id), await ended(storage, second.run.id)];
    expect(runs.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(effects).toEqual(["first", "second"]);
    await checkLog(storage, id, runs);
    for (const [n, session] of others.entries()) {
      const { run, codes } = await accepted(node, session.id, "Hello", sent[n], keys[n]);
      expect(codes.filter((code) => code !== "storage_unavailable")).toEqual([]);
      expect(await ended(storage, run.id)).toMatchObject({ status: "succeeded" });
      expect(await inputsOf(storage, session.id)).toEqual(["Hello"]);
    }
  });

  it("with one thread's row held for longer than its lease: the others go on, and so does that one, once", async () => {
    const url = await newDatabase();
    const { tools, effects, open } = trackedTools();
    const LEASE_MS = 6_000;
    const [node, other] = [
      await startNode(url, tools, { max: 4 }, LEASE_MS),
      await startNode(url, tools, { max: 4 }, LEASE_MS),
    ];
    const { storage } = node;
    const { id, thread_id } = await node.createSession();
    const { run } = await accepted(node, id, 'Use the gate tool with note="held"');
    await until("the tool to run", async () => effects.length === 1 || undefined, WITHIN_MS);

    const blocker = await connect(url);
    const watcher = await connect(url);
    await blocker.query("begin");
    await blocker.query("select 1 from threads where thread_id = $1 for update", [thread_id]);
    const expired = "select 1 from threads where thread_id = $1 and lease_until < extract(epoch from now()) * 1000";
    const runOut = async () => (await watcher.query(expired, [thread_id])).rowCount === 1 || undefined;
    await until("its lease to run out", runOut, WITHIN_MS);
    open();
    for (const each of [node, other]) {
      await until("the node to be ready", ready(each, 200), WITHIN_MS);
      const { id: free } = await each.createSession();
      const { run: hello } = await accepted(each, free, "Hello");
      expect(await ended(storage, hello.id)).toMatchObject({ status: "succeeded" });
    }
    expect(await storage.getRun(run.id)).toMatchObject({ status: "running" });
    await blocker.query("rollback");

    const end = await ended(storage, run.id);
    expect(end.status).toBe("succeeded");
    expect(effects).toEqual(["held"]);
    await checkLog(storage, id, [end]);
  });

  it("whose line to it is cut in the middle of a run: another node goes on, and it is ready again with the line", async () => {
    const url = await newDatabase();
    const proxy = await startSilentProxy(url);
    onTestFinished(proxy.close);
    const { tools, effects, open } = trackedTools();
    const node = await startNode(proxy.url, tools, { max: 4, wait_ms: 1_000 }, 4_000);
    const { id } = await node.createSession();
    const { run } = await accepted(
      node,
      id,
      'Use the gate tool with note="cut", then use the jot tool with note="after"',
    );
    await until("the tool to run", async () => effects.length === 1 || undefined, WITHIN_MS);
    proxy.cutAll(true);
    const other = await startNode(url, tools, { max: 4 }, 4_000);
    await until("the node not to be ready", ready(node, 503), WITHIN_MS);
    const end = await ended(other.storage, run.id);
    open(); // its result comes too late
    expect(end).toMatchObject({ status: "succeeded", attempt: 2 });
    expect(await other.storage.listToolCalls(run.id)).toMatchObject([
      { name: "gate", status: "unknown" },
      { name: "jot" },
    ]);
    proxy.cutAll(false);
    await until("the node to be ready", ready(node, 200), WITHIN_MS);
    await until("the node to have let go of the run", metricsWith(node, "cognition_active_runs 0"), WITHIN_MS);
    const { run: next } = await accepted(node, id, "Hello");
    const last = await ended(other.storage, next.id);
    expect(last).toMatchObject({ status: "succeeded" });
    expect(effects).toEqual(["cut", "after"]);
    await checkLog(other.storage, id, [end, last]);
  });

  it("that takes its time over every commit: runs take longer, and end", async () => {
    const url = await newDatabase();
    const { tools, effects } = trackedTools();
    const nodes = [await startNode(url, tools, { max: 4 }), await startNode(url, tools, { max: 4 })];
    const slow = await connect(url);
    await slow.query(`create function slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.15); return null; end $$`);
    for (const table of ["events", "tool_calls", "runs"]) {
      await slow.query(`create trigger slow after insert or update on ${table} execute function slow()`);
    }
    const wanted = ["1", "2", "3", "4"];
    const runs = await Promise.all(
      wanted.map(async (note, n) => {
        const node = nodes[n % nodes.length] as TestServer;
        const { id } = await node.createSession();
        return (await accepted(node, id, `Use the jot tool with note="${note}"`)).run;
      }),
    );
    const { storage } = nodes[0] as TestServer;
    for (const { id, session_id } of runs) {
      const end = await ended(storage, id);
      expect(end.status).toBe("succeeded");
      await checkLog(storage, session_id, [end]);
    }
    expect(effects.toSorted()).toEqual(wanted);
  });

  it("that allows fewer connections than the pool would take: calls wait for those it has, and none fails", async () => {
    const role = `few_${randomUUID().replaceAll("-", "")}`;
    const server = await connect(inject("postgresUrl"));
    onTestFinished(async () => void (await server.query(`drop role if exists ${role}`))); // after its database
    const url = await newDatabase();
    const admin = await connect(url);
    await admin.query(`create role ${role} login password 'few' connection limit 3`);
    const { pathname } = new URL(url);
    await admin.query(`alter database ${pathname.slice(1)} owner to ${role}`);
    await admin.query(`alter schema public owner to ${role}`);
    const own = new URL(url);
    own.username = role;
    own.password = "few";
    const { tools, effects } = trackedTools();
    const node = await startNode(own.href, tools, { max: 8, wait_ms: WITHIN_MS });
    const sessions: string[] = [];
    for (let n = 0; n < 8; n++) sessions.push((await node.createSession()).id);
    const asked = sessions.map((id, n) => accepted(node, id, `Use the jot tool with note="${n}"`));
    const answers = await Promise.all(asked);
    for (const [n, { run, codes }] of answers.entries()) {
      expect(codes).toEqual([]);
      expect(await ended(node.storage, run.id)).toMatchObject({ status: "succeeded" });
      expect(await inputsOf(node.storage, sessions[n] as string)).toHaveLength(1);
    }
    expect(effects.toSorted()).toEqual(sessions.map((_, n) => String(n)));
    await until("the node to be ready", ready(node, 200), WITHIN_MS);
  });
});
