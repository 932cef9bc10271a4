import { randomBytes } from "node:crypto";
import { openStorage } from "@cognition/thread";
import { expect, it, onTestFinished } from "vitest";
import { createMigratedDatabase } from "../../../thread/test/migrated-database.ts";
import { openai } from "../model/openai-server.ts";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { dataOf, type Started, say, startRuntime } from "./started-runtime.ts";

async function startOn(engine: string, options: Parameters<typeof startRuntime>[0]): Promise<Started> {
  if (engine === "memory") return startRuntime(options);
  const database = await createMigratedDatabase();
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

for (const engine of ["memory", "postgres"]) {
  it(`what no storage takes is not taken over from a provider (${engine})`, async () => {
    const frame = (more: object) =>
      ({
        type: "raw",
        data: `data: ${JSON.stringify({ id: "1", model: "gpt\0five", created: 1, ...more })}\n\n`,
      }) as const;
    const choice = (delta: object, finish_reason: string | null = null) =>
      frame({ choices: [{ index: 0, delta, finish_reason }] });
    const usage = (tokens: unknown) =>
      frame({ choices: [], usage: { prompt_tokens: tokens, completion_tokens: 2, total_tokens: 7 } });
    const call = { index: 0, id: "a\0b", type: "function", function: { name: "ls", arguments: '{"path":"/"}' } };
    const { server, options } = await scriptedProvider(
      openai.stream(
        choice({ role: "assistant", tool_calls: [call] }),
        choice({}, "tool_calls"),
        usage(5.5),
        openai.done,
      ),
      openai.stream(choice({ role: "assistant", content: "Done" }), choice({}, "stop"), usage(9e18), openai.done),
      openai.stream(choice({ role: "assistant", content: "Done" }), choice({}, "stop"), usage(-3), openai.done),
    );
    onTestFinished(() => server[Symbol.asyncDispose]());
    const started = await startOn(engine, options);
    for (const text of ["Go", "Again"]) {
      expect(dataOf(await say(started, text), "done")).toMatchObject([{ status: "succeeded" }]);
    }
    expect(server.requests).toHaveLength(3);
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
