import { randomBytes } from "node:crypto";
import { openStorage } from "@cognition/thread";
import { expect, inject, it, onTestFinished } from "vitest";
import { createDatabase } from "../../../../testing/database.ts";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { dataOf, type Started, say, startRuntime } from "./started-runtime.ts";

async function startOn(engine: string, options: Parameters<typeof startRuntime>[0]): Promise<Started> {
  if (engine === "memory") return startRuntime(options);
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(database.drop);
  return startRuntime({ ...options, storage: await openStorage({ uri: database.url, pool: { min: 0, max: 6 } }) });
}

for (const engine of ["memory", "postgres"]) {
  it(`a call whose id is longer than an index takes ends like any other (${engine})`, async () => {
    // Some gateways put what a model wants back into the id of its call: it may be thousands of characters long.
    const id = `call_${randomBytes(12_000).toString("base64url")}`;
    const { server, options } = await scriptedProvider(calls(id, "ls", { path: "/" }), says("Done"));
    onTestFinished(() => server[Symbol.asyncDispose]());
    const started = await startOn(engine, options);
    const events = await say(started, "Go");
    expect(dataOf(events, "tool_result")).toMatchObject([{ tool_call_id: id, outcome: "ok" }]);
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(started.errors).toEqual([]);
  });
}

it("arguments that do not fit are explained, and nothing of the server's insides is told", async () => {
  const { server, options } = await scriptedProvider(calls("call_1", "write_file", { file_path: 7 }), says("Done"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const started = await startRuntime(options);
  const events = await say(started, "Go");
  const [told] = dataOf(events, "tool_result");
  expect(told).toMatchObject({ outcome: "error", output: expect.stringContaining("file_path") });
  const { messages } = await started.storage.getMessagesBySession(started.session.id);
  for (const text of [JSON.stringify(events), JSON.stringify(messages)])
    expect(text).not.toMatch(/node_modules|\.js:\d/);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
});
