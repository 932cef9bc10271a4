import { openStorage } from "@cognition/thread";
import { expect, it } from "vitest";
import { z } from "zod";
import { defaultConfig } from "../../src/config.ts";
import { createTelemetry } from "../../src/telemetry/telemetry.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

it("messages that something else deletes during a run are back when it has ended, and that is told and counted", async () => {
  const storage = await openStorage("memory");
  const telemetry = await createTelemetry(defaultConfig());
  const spoil = defineTool({
    name: "spoil",
    description: "Deletes the conversation's rows",
    schema: z.object({}),
    on_crash: "never",
    effect: "write",
    run: async () => `${await storage.deleteMessagesForSession(session.id)} are gone`,
  }) as ToolDefinition;
  const started = await startRuntime({ storage, telemetry, tools: [spoil] });
  const { session, errors } = started;
  await say(started, "Hello");
  expect(errors).toEqual([]);
  const before = await storage.listMessagesForSession(session.id);
  expect(dataOf(await say(started, "Use the spoil tool"), "done")).toMatchObject([{ status: "succeeded" }]);
  expect(errors).toMatchObject([{ code: "corrupt_data", details: { session_id: session.id } }]);
  const after = await storage.listMessagesForSession(session.id);
  expect(after.slice(0, before.length).map(({ id, content }) => ({ id, content }))).toEqual(
    before.map(({ id, content }) => ({ id, content })),
  );
  expect(after.slice(before.length).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  expect(await storage.rebuildMessages(session.id)).toMatchObject({ repaired: 0, added: 0, removed: 0 });
  expect((await telemetry.metrics.read()).text).toContain("cognition_message_repairs_total 1");
  await say(started, "Hello again");
  expect(errors).toHaveLength(1);
});
