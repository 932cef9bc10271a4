import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError, BudgetLimit, type BudgetLimitInput, type Run, type Scope } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { engines } from "../../../thread/test/engines.ts";
import { compose, type Runtime } from "../../src/compose.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { dataOf, say, startRuntime } from "../runtime/started-runtime.ts";

const ann = { user: "ann" };
const WRITE = "Create a file named notes.txt containing exactly the word hello";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const [memory, , postgres] = engines as [(typeof engines)[number], unknown, (typeof engines)[number]];

async function node(storage: Storage, root: string): Promise<Runtime> {
  const runtime = await compose({
    storage,
    workspace_root: root,
    env: { PATH: process.env["PATH"] },
    engine: { poll_ms: 20, lease_ms: 30_000 },
    onError: () => undefined,
  });
  cleanups.push(() => runtime.close(0));
  runtime.start();
  return runtime;
}

async function start({ open } = memory) {
  const fixture = await open();
  const dir = createTempDir();
  cleanups.push(() => dir.remove(), fixture.dispose);
  const runtime = await node(fixture.storage, dir.path);
  return { ...fixture, runtime, root: dir.path };
}

type Started = Awaited<ReturnType<typeof start>>;

async function limit({ storage, runtime }: Started, given: BudgetLimitInput, scope: Scope = ann): Promise<void> {
  const response = await runtime.http.app.request("/budgets", {
    method: "PUT",
    headers: Object.fromEntries(Object.entries(scope).map(([key, value]) => [`X-Cognition-Scope-${key}`, value])),
    body: JSON.stringify({ budgets: [given] }),
  });
  expect(response.status, await response.clone().text()).toBe(200);
  expect(await storage.budgets.listBudgets(scope)).toHaveLength(1);
}

async function submit({ engine }: Runtime, session_id: string, content: string): Promise<string> {
  const message_id = crypto.randomUUID();
  const message = { id: message_id, role: "user" as const, content };
  return (await engine.submit({ session_id, message, input: { kind: "message", message_id, content } })).run.id;
}

async function ended(storage: Storage, run_id: string): Promise<Run> {
  await expect.poll(async () => (await storage.getRun(run_id)).finished_at, { timeout: 50_000 }).not.toBeNull();
  return storage.getRun(run_id);
}

const open = ({ storage }: Started, scopes: Scope = ann) => storage.createSession({ scopes, workspace_path: "work" });

async function resume({ runtime, storage }: Started, session_id: string): Promise<Run> {
  const headers = { "X-Cognition-Scope-User": "ann", Prefer: "respond-async" };
  const path = `/sessions/${session_id}/resume`;
  const response = await runtime.http.app.request(path, { method: "POST", headers, body: "{}" });
  expect(response.status, await response.clone().text()).toBeLessThan(300);
  return ended(storage, ((await response.json()) as Run).id);
}

describe("a limit", () => {
  it("on steps stops the run with its work kept; a resume has no new allowance, and goes on once it is raised", async () => {
    const started = await start();
    const { storage, runtime, root } = started;
    await limit(started, { period: "run", max_steps: 1 });
    const { id: session_id } = await open(started);
    const run_id = await submit(runtime, session_id, WRITE);
    expect(await ended(storage, run_id)).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
    expect(existsSync(join(root, "work/notes.txt"))).toBe(true);
    const { events } = await storage.readEvents({ session_id, types: ["error"] });
    expect(events).toMatchObject([{ data: { code: "budget_exceeded", recoverable: true } }]);
    expect(JSON.stringify(events)).toMatch(/allows 1 model calls for each run; 1 model calls used.*PUT \/budgets/);

    expect(await resume(started, session_id)).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
    await limit(started, { period: "run", max_steps: 10 });
    expect(await resume(started, session_id)).toMatchObject({ status: "succeeded" });
    const calls = await Promise.all((await storage.listRuns(session_id)).map(({ id }) => storage.listToolCalls(id)));
    expect(calls.flat().map(({ name, status }) => [name, status])).toEqual([["write_file", "ok"]]);
    const next = await submit(runtime, session_id, "Hello");
    expect(await ended(storage, next)).toMatchObject({ status: "succeeded" });
  });

  it("on tool calls stops before the tool, which was never begun", async () => {
    const started = await start();
    const { storage, runtime, root } = started;
    await limit(started, { period: "total", max_tool_calls: 0 });
    const { id: session_id } = await open(started);
    const run_id = await submit(runtime, session_id, WRITE);
    expect(await ended(storage, run_id)).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
    expect(existsSync(join(root, "work/notes.txt"))).toBe(false);
    expect(await storage.listToolCalls(run_id)).toEqual([]);
    await limit(started, { period: "total", max_tool_calls: 1 });
    const again = await submit(runtime, session_id, WRITE);
    expect(await ended(storage, again)).toMatchObject({ status: "succeeded" });
    expect(existsSync(join(root, "work/notes.txt"))).toBe(true);
    expect(await storage.budgets.listBudgets(ann)).toMatchObject([{ used_tool_calls: 1, remaining_tool_calls: 0 }]);
  });

  it("on tokens refuses the call that would not fit, before it is made", async () => {
    const started = await start();
    const { storage, runtime } = started;
    await limit(started, { max_tokens: 10 });
    const { id: session_id } = await open(started);
    const run = await ended(storage, await submit(runtime, session_id, "Hello"));
    expect(run).toMatchObject({ status: "failed", usage: null, error: { code: "budget_exceeded" } });
    expect(await storage.budgets.listBudgets(ann)).toMatchObject([
      { used_tokens: 0, reserved_tokens: 0, used_steps: 0 },
    ]);
    await limit(started, { max_tokens: 1_000_000 });
    const resumed = await resume(started, session_id);
    expect(resumed).toMatchObject({ status: "succeeded", resumes: run.id });
    const used = (resumed.usage?.input_tokens ?? 0) + (resumed.usage?.output_tokens ?? 0);
    expect(await storage.budgets.listBudgets(ann)).toMatchObject([{ used_tokens: used, reserved_tokens: 0 }]);
  });

  it("on tokens that others have reserved says so: what is used and what is needed would fit", async () => {
    const started = await start();
    const { storage, runtime } = started;
    await limit(started, { period: "total", max_tokens: 10_000 });
    const [budget] = await storage.budgets.listBudgets(ann);
    const call = { run_id: crypto.randomUUID(), cost: 0, steps: 1, tool_calls: 0, seconds: 0, ttl_ms: 900_000 };
    await storage.budgets.reserve({ ...call, counts: [{ budget_id: budget?.id ?? "", stretch: "" }], tokens: 9_500 });
    const { id: session_id } = await open(started);
    const { error } = await ended(storage, await submit(runtime, session_id, "Hello"));
    expect(error?.message).toMatch(/allows 10000 tokens.*; 0 tokens used, 9500 tokens reserved for calls .* under way/);
  });

  it("on time stops a command in its middle", { tags: "long" }, async () => {
    const started = await start();
    const { storage, runtime } = started;
    await limit(started, { period: "run", max_seconds: 6 }); // enough to come to the command, on any machine
    const { id: session_id } = await open(started);
    const run_id = await submit(runtime, session_id, "Run the command: sleep 3000");
    const { status, error } = await ended(storage, run_id);
    expect({ status, code: error?.code }).toEqual({ status: "failed", code: "budget_exceeded" });
    expect(
      Number(/ allows 6 seconds .*; ([\d.]+) seconds used/.exec(error?.message ?? "")?.[1]),
    ).toBeGreaterThanOrEqual(6);
    expect(await storage.listToolCalls(run_id)).toMatchObject([{ name: "execute", status: "aborted" }]);
  });

  it("on time that is set, or lowered, while a command is at work stops it too", { tags: "long" }, async () => {
    const started = await start();
    const { storage, runtime, root } = started;
    for (const [n, before] of [[], [BudgetLimit.parse({ period: "run", max_seconds: 3000 })]].entries()) {
      await storage.budgets.putBudgets(ann, before);
      const { id: session_id } = await open(started);
      const run_id = await submit(runtime, session_id, `Run the command: sh -c "touch begun-${n}; sleep 3000"`);
      await expect.poll(() => existsSync(join(root, `work/begun-${n}`)), { timeout: 20_000 }).toBe(true);
      await limit(started, { period: "run", max_seconds: 1 });
      expect(await ended(storage, run_id)).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
      expect(await storage.listToolCalls(run_id)).toMatchObject([{ name: "execute", status: "aborted" }]);
    }
  });

  it("on time is shared by runs that are at work at once", { tags: "long" }, async () => {
    const started = await start();
    const { storage, runtime } = started;
    const max_seconds = 9;
    await limit(started, { period: "total", max_seconds });
    const sessions = await Promise.all([open(started), open(started), open(started)]);
    const ids = await Promise.all(sessions.map(({ id }) => submit(runtime, id, "Run the command: sleep 3000")));
    for (const id of ids) expect(await ended(storage, id)).toMatchObject({ error: { code: "budget_exceeded" } });
    const [budget] = await storage.budgets.listBudgets(ann);
    expect(budget?.used_seconds).toBeGreaterThanOrEqual(max_seconds);
    expect(budget?.used_seconds).toBeLessThan(2.5 * max_seconds);
  });

  it("of a wider scope holds for all in it, of another one for nobody here", async () => {
    const started = await start();
    const { storage, runtime } = started;
    await limit(started, { period: "total", max_steps: 0 }, { user: "bob" });
    const { id: session_id } = await open(started, { user: "ann", project: "p" });
    expect(await ended(storage, await submit(runtime, session_id, "Hello"))).toMatchObject({ status: "succeeded" });
    await limit(started, { period: "total", max_steps: 1 });
    for (const status of ["succeeded", "failed"]) {
      expect(await ended(storage, await submit(runtime, session_id, "Hello"))).toMatchObject({ status });
    }
  });

  it("of one session or one agent leaves the others alone", async () => {
    const started = await start();
    const { storage, runtime } = started;
    const [limited, free] = [await open(started), await open(started)];
    await limit(started, { session_id: limited.id, period: "session", max_steps: 0 });
    expect(await ended(storage, await submit(runtime, limited.id, "Hello"))).toMatchObject({ status: "failed" });
    expect(await ended(storage, await submit(runtime, free.id, "Hello"))).toMatchObject({ status: "succeeded" });
    await limit(started, { agent_name: "readonly", period: "total", max_steps: 0 });
    expect(await ended(storage, await submit(runtime, limited.id, "Hello"))).toMatchObject({ status: "succeeded" });
  });

  it("counts the model calls of subagents", async () => {
    const started = await start();
    const { storage, runtime } = started;
    await limit(started, { period: "total", max_steps: 100 });
    const { id: session_id } = await open(started);
    const text = "Delegate to general-purpose: Create a file named found.txt containing exactly the word yes";
    expect(await ended(storage, await submit(runtime, session_id, text))).toMatchObject({ status: "succeeded" });
    const [budget] = await storage.budgets.listBudgets(ann);
    expect(budget?.used_steps).toBeGreaterThanOrEqual(4);
    expect(budget?.used_tool_calls).toBeGreaterThanOrEqual(1);
  });
});

it("runs of two nodes never spend more than there is, and what is left is right", async () => {
  const started = await start(postgres);
  const { storage, root } = started;
  const other = (await started.second?.()) as Storage;
  const nodes = [started.runtime, await node(other, root)];
  await limit(started, { period: "total", max_steps: 7 });
  const sessions = await Promise.all(Array.from({ length: 12 }, () => storage.createSession({ scopes: ann })));
  const ids = await Promise.all(sessions.map(({ id }, n) => submit(nodes[n % 2] as Runtime, id, "Hello")));
  const runs = await Promise.all(ids.map((id) => ended(storage, id)));
  const by = (status: Run["status"]) => runs.filter((run) => run.status === status);
  expect([by("succeeded").length, by("failed").length]).toEqual([7, 5]);
  for (const run of by("failed")) expect(run.error?.code).toBe("budget_exceeded");
  const tokens = by("succeeded").reduce(
    (sum, { usage }) => sum + (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0),
    0,
  );
  expect(await storage.budgets.listBudgets(ann)).toMatchObject([
    { used_steps: 7, remaining_steps: 0, used_tokens: tokens, reserved_tokens: 0, unpriced_tokens: 0 },
  ]);
  const usage = await started.runtime.http.app.request("/usage?group_by=scope", {
    headers: { "X-Cognition-Scope-User": "ann" },
  });
  expect(await usage.json()).toMatchObject({ total: { runs: 7 } });
});

it("what a dead node had reserved for a run does not stand in that run's way when another node goes on with it", async () => {
  const { storage, dispose } = await memory.open();
  const dir = createTempDir();
  cleanups.push(() => dir.remove(), dispose);
  const max_tokens = 100_000;
  const [budget] = await storage.budgets.putBudgets(ann, [BudgetLimit.parse({ period: "total", max_tokens })]);
  const { id: session_id } = await storage.createSession({ scopes: ann });
  const message_id = crypto.randomUUID();
  const input = { kind: "message", message_id, content: "Hello" };
  const message = { id: message_id, role: "user" as const, content: "Hello" };
  const { run } = await storage.createRun({ session_id, message, input });
  await storage.claimRun({ owner: "dead", lease_ms: 1 });
  const counts = [{ budget_id: budget?.id ?? "", stretch: "" }];
  const call = { counts, cost: 0, steps: 1, tool_calls: 0, seconds: 0, ttl_ms: 900_000 };
  await storage.budgets.reserve({ ...call, run_id: run.id, tokens: max_tokens });
  await node(storage, dir.path);
  const { usage, ...end } = await ended(storage, run.id);
  expect(end).toMatchObject({ status: "succeeded", attempt: 2 });
  const used_tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  expect(await storage.budgets.listBudgets(ann)).toMatchObject([{ used_tokens, reserved_tokens: 0 }]);
});

it("a call that a dead node had begun, and that there is no room for to begin again, is unknown: it may have taken effect", async () => {
  const fixture = await memory.open();
  cleanups.push(fixture.dispose);
  const { storage } = fixture;
  const begun = Promise.withResolvers<void>();
  const record = defineTool({
    ...{ name: "record", description: "Records", schema: z.object({}), on_crash: "retry", effect: "write" },
    run: () => {
      begun.resolve();
      return new Promise<string>(() => undefined);
    },
  }) as ToolDefinition;
  await storage.budgets.putBudgets({}, [BudgetLimit.parse({ period: "total", max_tool_calls: 1 })]);
  const first = await startRuntime({ storage, tools: [record] });
  const rest = say(first, "Use the record tool");
  await begun.promise;
  await first.runtime.engine.drain(0);
  await startRuntime({ storage, tools: [record] });
  const events = await rest;
  expect(dataOf(events, "error")).toMatchObject([{ code: "budget_exceeded" }]);
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "unknown" }]);
  const [run] = await storage.listRuns(first.session.id);
  expect(await storage.listToolCalls(run?.id ?? "")).toMatchObject([{ name: "record", status: "unknown" }]);
});

it("a call is counted once, also if the answer to its reservation or to its counting is lost", async () => {
  const { storage, dispose } = await memory.open();
  const dir = createTempDir();
  cleanups.push(() => dir.remove(), dispose);
  const lost = () => new AppError("storage_unavailable", "the connection was lost");
  let asked = 0;
  const reserve: Storage["budgets"]["reserve"] = async (call) => {
    const answer = await storage.budgets.reserve(call);
    if (call.steps > 0 && asked++ === 0) throw lost();
    return answer;
  };
  let answersLost = 0;
  const settle: Storage["budgets"]["settle"] = async (spend) => {
    await storage.budgets.settle(spend);
    if (spend.reservation === null || answersLost++ > 0) return;
    throw lost();
  };
  const { engine } = await node({ ...storage, budgets: { ...storage.budgets, reserve, settle } }, dir.path);
  await storage.budgets.putBudgets(ann, [BudgetLimit.parse({ period: "total", max_tokens: 100_000 })]);
  const { id } = await storage.createSession({ scopes: ann });
  const { usage } = await ended(storage, await submit({ engine } as Runtime, id, "Hello"));
  expect([asked, answersLost]).toEqual([2, 2]);
  const used_tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  expect(await storage.budgets.listBudgets(ann)).toMatchObject([{ used_tokens, reserved_tokens: 0, used_steps: 1 }]);
});

it("the guide's budgets can be set as they stand there", async () => {
  const { runtime } = await start();
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/guide/budgets.md"), "utf8");
  const [, body = ""] = /^```json\n(.*?)^```/ms.exec(page) ?? [];
  const response = await runtime.http.app.request("/budgets", { method: "PUT", body });
  expect(response.status, await response.clone().text()).toBe(200);
  expect(((await response.json()) as { budgets: object[] }).budgets).toHaveLength(3);
});

describe("budgets over HTTP", () => {
  it("are an admin's to write, name what exists, and are shown to their scope", async () => {
    const started = await start();
    const { runtime, storage } = started;
    const put = async (budgets: object[], user = "ann") => {
      const headers = { "X-Cognition-Scope-User": user };
      const response = await runtime.http.app.request("/budgets", {
        method: "PUT",
        headers,
        body: JSON.stringify({ budgets }),
      });
      const { code } = (await response.json()) as { code?: string };
      return `${response.status} ${code ?? ""}`.trim();
    };
    const foreign = await storage.createSession({ scopes: { user: "bob" } });
    expect(await put([{ agent_name: "nobody", max_cost: 1 }])).toBe("422 unknown_agent");
    expect(await put([{ session_id: foreign.id, max_cost: 1 }])).toBe("404 session_not_found");
    expect(await put([{ max_cost: -1 }])).toBe("422 validation_failed");
    expect(await put([{}])).toBe("422 validation_failed");
    expect(await put([{ max_cost: 1 }, { max_cost: 2 }])).toBe("422 validation_failed");
    expect(await storage.budgets.listBudgets()).toEqual([]);
    expect(await put([{ max_cost: 1 }, { session_id: foreign.id, period: "total", max_steps: 1 }], "bob")).toBe("200");
    const get = async (user: string) => {
      const response = await runtime.http.app.request("/budgets", { headers: { "X-Cognition-Scope-User": user } });
      return ((await response.json()) as { budgets: object[] }).budgets;
    };
    expect(await get("ann")).toEqual([]);
    expect(await get("bob")).toMatchObject([
      { period: "month", max_cost: 1, remaining_cost: 1, scope: { user: "bob" } },
      { session_id: foreign.id, max_steps: 1, remaining_steps: 1 },
    ]);
    expect(BudgetLimit.safeParse({ max_steps: 1.5 }).success).toBe(false);
  });
});
