import { expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { dataOf, eventsOf, say, send, startRuntime } from "./started-runtime.ts";

/** A tool that does not heed the signal: its effect lands soon after the abort, or when the test lets it. */
async function abortDuring(lands: "soon" | "later") {
  const effects: string[] = [];
  const begun = Promise.withResolvers<void>();
  const landing = Promise.withResolvers<void>();
  const launch = defineTool({
    name: "launch",
    description: "Launches",
    schema: z.object({}),
    on_crash: "never",
    effect: "write",
    run: async (_args, { signal }) => {
      begun.resolve();
      if (lands === "soon") signal.addEventListener("abort", () => setImmediate(landing.resolve));
      await landing.promise;
      effects.push("landed");
      return "launched";
    },
  }) as ToolDefinition;
  const started = await startRuntime({ tools: [launch] });
  const run_id = await send(started, "Use the launch tool");
  await begun.promise;
  expect(await started.storage.listToolCalls(run_id)).toMatchObject([{ status: "started" }]);
  await started.runtime.engine.abort(started.session.id);
  return { started, run_id, effects, land: landing.resolve };
}

it("a tool that lands soon after the abort has its true result, and the end waits for it", async () => {
  const { started, run_id, effects } = await abortDuring("soon");
  const events = await eventsOf(started, run_id);
  expect(effects).toEqual(["landed"]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: "launched" }]);
  expect(await started.storage.listToolCalls(run_id)).toMatchObject([{ status: "ok" }]);
  const messages = await started.storage.listMessagesForSession(started.session.id);
  expect(messages.at(-1)).toMatchObject({ role: "tool", content: "launched" });
  expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
});

it("one that lands much later is unknown: not aborted, and nothing of the run follows its end", async () => {
  const { started, run_id, effects, land } = await abortDuring("later");
  const events = await eventsOf(started, run_id);
  expect(effects).toEqual([]);
  expect(dataOf(events, "tool_result")).toMatchObject([
    { outcome: "unknown", output: expect.stringContaining("outcome_unknown") },
  ]);
  land();
  await expect.poll(() => effects).toEqual(["landed"]);
  expect(await started.storage.listToolCalls(run_id)).toMatchObject([{ status: "unknown" }]);
  const { events: all } = await started.storage.readEvents({ session_id: started.session.id, run_id });
  expect(all.at(-1)).toMatchObject({ event: "done" });
  expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
  expect(started.errors).toEqual([]);
});
