import { BudgetLimit, type StoredEvent } from "@cognition/contract";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { openai } from "../model/openai-server.ts";
import type { Answer } from "../model/scripted-server.ts";
import { callsTogether, says, scriptedProvider } from "./scripted-provider.ts";
import { answer, dataOf, eventsOf, type Started, say, send, startRuntime } from "./started-runtime.ts";
import { stillValid, wrongToolEvents } from "./tool-events.ts";

const task = (id: string) => [id, "task", { subagent_type: "general-purpose", description: "Do it" }] as const;

function tool(name: string, run: ToolDefinition["run"]): ToolDefinition {
  const schema = z.object({ days: z.int().optional() });
  return defineTool({ name, description: name, schema, on_crash: "never", effect: "write", run }) as ToolDefinition;
}

interface Scene extends Started {
  /** How often a tool that waits for the abort has begun. */
  waiting: () => number;
}

async function start(answers: readonly Answer[], agent = "description: Works"): Promise<Scene> {
  let waiting = 0;
  const tools = [
    tool("charge", () => "charged"),
    tool("fail", () => {
      throw new Error("no luck");
    }),
    tool("wait", (_args, { signal }) => {
      waiting += 1;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }),
  ];
  const { server, options } = await scriptedProvider(...answers);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const files = { ".cognition/agents/worker.md": `---\n${agent}\n---\nYou work.\n` };
  const started = await startRuntime({ ...options, tools, files, session: { agent_name: "worker" } });
  return { ...started, waiting: () => waiting };
}

async function limitToolCalls({ storage }: Started, max_tool_calls: number): Promise<void> {
  await storage.budgets.putBudgets({}, [BudgetLimit.parse({ period: "total", max_tool_calls })]);
}

/** By the call's id. */
function outcomes(events: readonly StoredEvent[]): Record<string, unknown> {
  return Object.fromEntries(dataOf(events, "tool_result").map(({ tool_call_id, outcome }) => [tool_call_id, outcome]));
}

async function abortDuring(scene: Scene, waiting: number): Promise<StoredEvent[]> {
  const run_id = await send(scene, "Go");
  await expect.poll(scene.waiting).toBe(waiting);
  await scene.runtime.engine.abort(scene.session.id);
  return eventsOf(scene, run_id);
}

it("calls that work, fail, don't fit, are nobody's or not allowed have a result each", async () => {
  const called = callsTogether(
    ["c1", "charge"],
    ["c2", "fail"],
    ["c3", "charge", { days: "many" }],
    ["c4", "nothing_of_the_kind"],
    ["c5", "task", { subagent_type: "nobody", description: "Go" }],
    ["c6", "ls"],
  );
  const scene = await start([called, says("Done")], "tools: [charge, fail]");
  const events = await say(scene, "Go");
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({
    ...{ c1: "ok", c2: "error", c3: "error", c4: "denied", c5: "denied", c6: "denied" },
  });
});

it("calls that a limit leaves no room for have one, beside those that there was room for", async () => {
  const scene = await start([
    callsTogether(["c1", "charge"]),
    callsTogether(["c2", "charge"], ["c3", "charge"]),
    says("Done"),
  ]);
  await limitToolCalls(scene, 1);
  const events = await say(scene, "Go");
  expect(dataOf(events, "done")).toMatchObject([{ status: "failed" }]);
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ c1: "ok", c2: "aborted", c3: "aborted" });
});

it("so do those of another agent, and what was delegated to it", async () => {
  const scene = await start([
    callsTogether(task("t1")),
    callsTogether(["c1", "charge"]),
    callsTogether(["c2", "charge"]),
    says("Done"),
  ]);
  await limitToolCalls(scene, 1);
  const events = await say(scene, "Go");
  expect(dataOf(events, "done")).toMatchObject([{ status: "failed" }]);
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ c1: "ok", c2: "aborted", t1: "aborted" });
});

it("calls that an abort stops have one, and so has what was delegated", async () => {
  const scene = await start([
    callsTogether(["c1", "wait"], ["c2", "charge"], task("t1")),
    callsTogether(["c3", "wait"]),
  ]);
  const events = await abortDuring(scene, 2);
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ c1: "aborted", c2: "ok", c3: "aborted", t1: "aborted" });
  expect(dataOf(events, "tool_result").find(({ tool_call_id }) => tool_call_id === "t1")).toMatchObject({
    output: expect.stringContaining("stays done"),
  });
});

it("a call that an abort stops has its own, though one before it had its id and was denied", async () => {
  const scene = await start([callsTogether(["c1", "ls"]), callsTogether(["c1", "wait"])], "tools: [wait]");
  const events = await abortDuring(scene, 1);
  expect(wrongToolEvents(events)).toEqual([]);
  expect(dataOf(events, "tool_result")).toMatchObject([
    { outcome: "denied" },
    { outcome: "aborted", output: expect.stringContaining("stopped before it finished") },
  ]);
});

it("calls of two agents that have the same id have one each", async () => {
  const scene = await start([callsTogether(task("c1"), ["c2", "wait"]), callsTogether(["c1", "wait"])]);
  const events = await abortDuring(scene, 2);
  expect(wrongToolEvents(events)).toEqual([]);
  const told = dataOf(events, "tool_result").map(({ agent = "root", tool_call_id, output }) => [
    `${agent} ${tool_call_id}`,
    output,
  ]);
  expect(Object.fromEntries(told)).toEqual({
    "general-purpose c1": expect.stringContaining("wait: It was stopped"),
    "root c1": expect.stringContaining("stays done"),
    "root c2": expect.stringContaining("wait: It was stopped"),
  });
  expect(told).toHaveLength(3);
});

it("a delegation whose agent fails has failed", async () => {
  const broken = openai.fails(400, "This model does not like it.", "invalid");
  const scene = await start([callsTogether(task("t1")), broken]);
  const events = await say(scene, "Go");
  expect(dataOf(events, "done")).toMatchObject([{ status: "failed" }]);
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ t1: "error" });
});

const ASKING = "interrupt_on: {charge: true}";

it.each([
  ["approve", {}, "ok"],
  ["edit", { args: { days: 2 } }, "ok"],
  ["edit", { args: { days: "many" } }, "error"],
  ["reject", {}, "denied"],
  ["respond", { message: "I did it" }, "ok"],
] as const)("calls that a human decides about have one: %s %o", async (type, more, outcome) => {
  const scene = await start([callsTogether(["c1", "charge"], ["c2", "ls"]), says("Done")], ASKING);
  const asked = await say(scene, "Go");
  const events = [...asked, ...(await answer(scene, asked, { type, ...more }))];
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ c1: outcome, c2: "ok" });
  expect(outcomes(stillValid(events))).toEqual(outcomes(events));
});

it("a delegation that is aborted while its agent waits for a human has one", async () => {
  const scene = await start([callsTogether(task("t1"), ["c2", "ls"]), callsTogether(["c1", "charge"])], ASKING);
  const asked = await say(scene, "Go");
  await scene.runtime.engine.abort(scene.session.id);
  const events = await eventsOf(scene, asked[0]?.run_id ?? "", asked.at(-1)?.id ?? 0);
  expect(wrongToolEvents([...asked, ...events])).toEqual([]);
  expect(outcomes([...asked, ...events])).toEqual({ c2: "ok", t1: "aborted" });
});

it("a delegation whose agent asks a human is one call, told once, and goes on with the answer", async () => {
  const scene = await start(
    [callsTogether(task("t1"), ["c2", "ls"]), callsTogether(["c1", "charge"]), says("Done")],
    ASKING,
  );
  const asked = await say(scene, "Go");
  const events = [...asked, ...(await answer(scene, asked, { type: "approve" }))];
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ c1: "ok", c2: "ok", t1: "ok" });
  expect(outcomes(stillValid(events))).toEqual(outcomes(events));
  expect(dataOf(events, "tool_call").map(({ id }) => id)).toEqual(["t1", "c2", "c1"]);
  expect(dataOf(events, "delegation")).toHaveLength(1);
});

it("calls of a subagent that have their results beside one that asks a human are not made and told again", async () => {
  const beside = [["c2", "ls"], ["c3", "fail"], ["c4", "nothing_of_the_kind"], task("t2")] as const;
  const scene = await start(
    [callsTogether(task("t1")), callsTogether(["c1", "charge"], ...beside), says("Done")],
    ASKING,
  );
  const asked = await say(scene, "Go");
  const events = [...asked, ...(await answer(scene, asked, { type: "approve" }))];
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ c1: "ok", c2: "ok", c3: "error", c4: "error", t1: "ok", t2: "denied" });
  const told = [...dataOf(events, "tool_call"), ...dataOf(events, "tool_result")].map((data) => JSON.stringify(data));
  expect(told).toHaveLength(new Set(told).size);
  expect(told).toHaveLength(12);
});
