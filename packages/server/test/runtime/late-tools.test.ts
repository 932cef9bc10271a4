import { expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { openai } from "../model/openai-server.ts";
import { says, scriptedProvider } from "./scripted-provider.ts";
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

it("a run that is continued after an abort does none of the calls again that stood beside the one that was stopped", async () => {
  const effects: string[] = [];
  const begun = Promise.withResolvers<void>();
  const tool = (name: string, run: (signal: AbortSignal) => Promise<string>) =>
    defineTool({
      ...{ name, description: name, schema: z.object({}), on_crash: "never", effect: "write" },
      run: (_args, { signal }) => {
        effects.push(name);
        return run(signal);
      },
    }) as ToolDefinition;
  const charge = tool("charge", async () => "charged");
  const wait = tool("wait", (signal) => {
    begun.resolve();
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const task = JSON.stringify({ subagent_type: "general-purpose", description: "Wait" });
  const asks = (...called: [id: string, name: string, args: string][]) =>
    openai.stream(
      openai.start,
      ...called.flatMap(([id, name, args], at) => [openai.toolStart(at, id, name), openai.toolArgs(at, args)]),
      openai.finish("tool_calls"),
      openai.done,
    );
  const plan = JSON.stringify({ todos: [{ content: "Charge", status: "completed" }] });
  const { server, options } = await scriptedProvider(
    asks(["c1", "charge", "{}"], ["c2", "write_todos", plan], ["c3", "task", task]),
    asks(["c4", "wait", "{}"]),
    says("Stopped, then."),
  );
  const started = await startRuntime({ ...options, tools: [charge, wait] });
  const { storage, runtime, session } = started;
  const run_id = await send(started, "Charge, and have somebody wait");
  await begun.promise;
  await expect
    .poll(async () => (await storage.listToolCalls(run_id)).filter(({ status }) => status === "ok"))
    .toHaveLength(2);
  await runtime.engine.abort(session.id);
  expect(dataOf(await eventsOf(started, run_id), "done")).toMatchObject([{ status: "aborted" }]);
  const { run } = await runtime.engine.submit({ session_id: session.id, input: { kind: "continue" }, resumes: run_id });
  expect(dataOf(await eventsOf(started, run.id), "done")).toMatchObject([{ status: "succeeded" }]);
  expect(effects.toSorted()).toEqual(["charge", "wait"]);
  const messages = await storage.listMessagesForSession(session.id);
  expect(messages.map(({ role, tool_call_id }) => tool_call_id ?? role)).toEqual([
    ...["user", "assistant", "c1", "c2", "c3", "assistant"],
  ]);
  // The other agent had begun: whoever hears that it had not delegates the same again.
  expect(messages[4]?.content).toContain("stays done");
  const [head] = await storage.timeline.readTimeline(session.id, { limit: 1 });
  const state = await runtime.timeline.get(session, head?.checkpoint_id ?? "");
  expect(state).toMatchObject({ variables: { todos: [{ content: "Charge" }] } });
  await server[Symbol.asyncDispose]();
});
