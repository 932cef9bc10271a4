import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { dataOf, eventsOf, say, send, startRuntime } from "./started-runtime.ts";

/** A tool that does not heed the signal: its effect lands when it lands. */
function stubborn(takes_ms: number, effects: string[]): ToolDefinition {
  return defineTool({
    name: "launch",
    description: "Launches",
    schema: z.object({}),
    on_crash: "never",
    effect: "write",
    run: async () => {
      await delay(takes_ms);
      effects.push("landed");
      return "launched";
    },
  }) as ToolDefinition;
}

async function abortDuring(takes_ms: number) {
  const effects: string[] = [];
  const started = await startRuntime({ tools: [stubborn(takes_ms, effects)] });
  const run_id = await send(started, "Use the launch tool");
  await expect.poll(() => started.storage.listToolCalls(run_id)).toMatchObject([{ status: "started" }]);
  const asked = performance.now();
  await started.runtime.engine.abort(started.session.id);
  const events = await eventsOf(started, run_id);
  return { started, run_id, events, effects, took: performance.now() - asked };
}

it("a tool that lands half a second after the abort has its true result, and the end waits for it", async () => {
  const { started, run_id, events, effects, took } = await abortDuring(500);
  expect(effects).toEqual(["landed"]);
  expect(took).toBeLessThan(2_000);
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: "launched" }]);
  expect(await started.storage.listToolCalls(run_id)).toMatchObject([{ status: "ok" }]);
  const messages = await started.storage.listMessagesForSession(started.session.id);
  expect(messages.at(-1)).toMatchObject({ role: "tool", content: "launched" });
  expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
});

it("one that lands after five seconds is unknown: not aborted, and nothing of the run follows its end", async () => {
  const { started, run_id, events, effects, took } = await abortDuring(5_000);
  expect(took).toBeGreaterThan(1_900);
  expect(took).toBeLessThan(4_000);
  expect(effects).toEqual([]);
  expect(dataOf(events, "tool_result")).toMatchObject([
    { outcome: "unknown", output: expect.stringContaining("outcome_unknown") },
  ]);
  await expect.poll(() => effects, { timeout: 10_000 }).toEqual(["landed"]);
  expect(await started.storage.listToolCalls(run_id)).toMatchObject([{ status: "unknown" }]);
  const { events: all } = await started.storage.readEvents({ session_id: started.session.id, run_id });
  expect(all.at(-1)).toMatchObject({ event: "done" });
  expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
  expect(started.errors).toEqual([]);
});
