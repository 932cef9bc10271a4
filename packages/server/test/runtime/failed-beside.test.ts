import type { StoredEvent } from "@cognition/contract";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { openai } from "../model/openai-server.ts";
import { type Call, callsTogether, says, scriptedProvider } from "./scripted-provider.ts";
import { dataOf, type Started, say, startRuntime } from "./started-runtime.ts";
import { wrongToolEvents } from "./tool-events.ts";

const task = (id: string) => [id, "task", { subagent_type: "general-purpose", description: "Do it" }] as const;
const BROKEN = openai.fails(400, "This model does not like it.", "invalid");
/** A model that takes its time, and then wants a tool: longer than any machine takes until the other one has failed. */
const LATE = openai.stream(
  openai.start,
  { type: "pause", ms: 10_000 },
  openai.toolStart(0, "late", "charge"),
  openai.toolArgs(0, "{}"),
  openai.finish("tool_calls"),
  openai.done,
);

interface Scene extends Started {
  server: Awaited<ReturnType<typeof scriptedProvider>>["server"];
  /** What its tools did, in order. */
  done: string[];
}

/** A subagent charges, and then its model fails; beside it is what the root agent calls besides. */
async function start(...beside: readonly Call[]): Promise<Scene> {
  const done: string[] = [];
  const begun = Promise.withResolvers<void>();
  const tool = (name: string, run: ToolDefinition["run"]) =>
    defineTool({ name, description: name, schema: z.object({}), on_crash: "never", effect: "read", run });
  const tools = [
    tool("charge", async (_args, { agent_name }) => {
      if (beside.some(([, name]) => name === "wait")) await begun.promise;
      // The other subagent has asked by then: the model answers in the order in which it is asked.
      if (beside.some(([, name]) => name === "task")) await expect.poll(() => server.requests.length).toBe(3);
      done.push(`charged for ${agent_name}`);
      return "charged";
    }),
    tool("wait", (_args, { signal }) => {
      begun.resolve();
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          done.push("stopped");
          reject(signal.reason);
        }),
      );
    }),
  ] as ToolDefinition[];
  const root = callsTogether(task("t1"), ...beside);
  const others = beside.some(([, name]) => name === "task") ? [LATE] : [];
  const { server, options } = await scriptedProvider(root, callsTogether(["c1", "charge"]), ...others, BROKEN);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { ...(await startRuntime({ ...options, tools })), server, done };
}

function outcomes(events: readonly StoredEvent[]): Record<string, unknown> {
  return Object.fromEntries(dataOf(events, "tool_result").map(({ tool_call_id, outcome }) => [tool_call_id, outcome]));
}

it("a tool beside a subagent that fails is stopped with the run, and was not the one that failed", async () => {
  const scene = await start(["c2", "wait"]);
  const events = await say(scene, "Go");
  expect(dataOf(events, "error")).toMatchObject([{ code: "model_failed" }]);
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ c1: "ok", c2: "aborted", t1: "error" });
  // Nobody aborted it: the model is told so when the run is resumed.
  const told = (await scene.storage.listMessagesForSession(scene.session.id)).at(-1);
  expect(told).toMatchObject({ tool_call_id: "c2", content: expect.stringContaining("its run was aborted or failed") });
  expect(scene.done).toEqual(["charged for general-purpose", "stopped"]);
});

it("so is a subagent: its model is not listened to any more, and what that wants is not begun", async () => {
  const scene = await start(task("t2"));
  const events = await say(scene, "Go");
  expect(dataOf(events, "error")).toMatchObject([{ code: "model_failed" }]);
  await scene.server.requests[2]?.left;
  expect(wrongToolEvents(events)).toEqual([]);
  expect(outcomes(events)).toEqual({ c1: "ok", t1: "error", t2: "aborted" });
  expect(scene.done).toEqual(["charged for general-purpose"]);
  scene.server.script(says("Here I am"));
  expect(dataOf(await say(scene, "And now?"), "done")).toMatchObject([{ status: "succeeded" }]);
  expect(scene.errors).toHaveLength(1);
});
