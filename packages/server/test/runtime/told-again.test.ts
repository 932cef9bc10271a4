import type { StoredEvent } from "@cognition/contract";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { callsTogether, says, scriptedProvider } from "./scripted-provider.ts";
import { answer, dataOf, eventsOf, say, startRuntime } from "./started-runtime.ts";
import { stillValid, wrongToolEvents } from "./tool-events.ts";

const AGENT = "---\ndescription: Works\ninterrupt_on: {charge: true, hold: true}\n---\nYou work.\n";
const task = (id: string) => [id, "task", { subagent_type: "general-purpose", description: "Do it" }] as const;

it("what came to its end between an answer and a cut has its result in the log, for all who read it", async () => {
  const held = Promise.withResolvers<void>();
  const tool = (name: string, run: ToolDefinition["run"]) =>
    defineTool({ name, description: name, schema: z.object({}), on_crash: "never", effect: "read", run });
  const tools = [
    tool("charge", () => "charged"),
    tool("hold", () => {
      held.resolve();
      return new Promise(() => undefined);
    }),
  ] as ToolDefinition[];
  const { server, options } = await scriptedProvider(
    callsTogether(task("t1"), ["c2", "hold"]),
    callsTogether(["c1", "charge"]),
    says("Done"),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  const files = { ".cognition/agents/worker.md": AGENT };
  const setting = { ...options, tools, files, session: { agent_name: "worker" } };
  const first = await startRuntime(setting);
  const asked = await say(first, "Go");
  const run_id = asked[0]?.run_id ?? "";
  const rest = answer(first, asked, { type: "approve" });
  await held.promise;
  const results = async () =>
    (await first.storage.readEvents({ session_id: first.session.id, types: ["tool_result"] })).events.length;
  await expect.poll(results).toBe(2);
  await first.runtime.engine.drain(0);
  await startRuntime({ ...setting, storage: first.storage });
  await rest;
  const events = await eventsOf(first, run_id, asked.at(-1)?.id);
  const all = [...asked, ...events];
  expect(wrongToolEvents(all)).toEqual([]);
  expect(outcomes(stillValid(all))).toEqual({ c1: "ok", c2: "unknown", t1: "ok" });
});

function outcomes(events: readonly StoredEvent[]): Record<string, unknown> {
  return Object.fromEntries(dataOf(events, "tool_result").map(({ tool_call_id, outcome }) => [tool_call_id, outcome]));
}
