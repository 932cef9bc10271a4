import { setTimeout as delay } from "node:timers/promises";
import { AppError, BudgetLimit } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { answer, dataOf, eventsOf, interruptsIn, type Started, say, send, startRuntime } from "./started-runtime.ts";

function launch(effects: string[]): ToolDefinition {
  return defineTool({
    name: "launch",
    description: "Launches",
    schema: z.object({}),
    on_crash: "never",
    effect: "write",
    run: async () => {
      effects.push("launched");
      return "launched";
    },
  }) as ToolDefinition;
}

const lost = () => new AppError("storage_unavailable", "the connection was lost");

/** A storage, one of whose journal's methods passes through `disturb` first. */
async function startWith(disturb: (real: Storage) => Partial<Storage>): Promise<Started & { effects: string[] }> {
  const effects: string[] = [];
  const real = await openStorage("memory");
  const storage = { ...real, ...disturb(real) };
  return { ...(await startRuntime({ storage, tools: [launch(effects)] })), effects };
}

it("whoever is asked what became of a call is told why he is asked, and what he says is its result", async () => {
  const started = await startWith((real) => ({
    beginToolCall: async (intent) => {
      await real.beginToolCall(intent);
      return { state: "unknown", on_crash: "ask", idempotency_key: "k" };
    },
  }));
  const asked = await say(started, "Use the launch tool");
  expect(interruptsIn(asked)).toMatchObject([
    {
      tool_name: "launch",
      allowed_decisions: ["respond"],
      description: expect.stringContaining("then the process ended"),
    },
  ]);
  const events = await answer(started, asked, { type: "respond", message: "It flies." });
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "unknown", output: "It flies." }]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(started.effects).toEqual([]);
});

it("an abort whose patience ends in the moment in which a tool does: the run has its result, once", async () => {
  const reached = Promise.withResolvers<void>();
  const listed = Promise.withResolvers<void>();
  const recorded = Promise.withResolvers<void>();
  const started = await startWith((real) => ({
    finishToolCall: async (key, lease, end) => {
      if (end.outcome === "ok") {
        reached.resolve();
        await listed.promise;
      }
      await real.finishToolCall(key, lease, end).finally(recorded.resolve);
    },
    // The worst moment: it is read as still at work, and its end is stored before it is called unknown.
    listToolCalls: async (run_id) => {
      const calls = await real.listToolCalls(run_id);
      listed.resolve();
      await recorded.promise;
      return calls;
    },
  }));
  const run_id = await send(started, "Use the launch tool");
  await reached.promise;
  await started.runtime.engine.abort(started.session.id);
  const events = await eventsOf(started, run_id);
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: "launched" }]);
  const { messages } = await started.storage.getMessagesBySession(started.session.id);
  expect(messages.find(({ role }) => role === "tool")).toMatchObject({ content: "launched" });
  expect(started.errors).toEqual([]);
});

it("an abort that comes while the intent is being recorded: the tool never runs, and no intent stays open", async () => {
  const reached = Promise.withResolvers<void>();
  const listed = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  // The worst moment: after the journal was looked through for open calls, and before the run's end is stored. An end
  // that waits for the intent never looks before it; then a moment after the abort the intent goes on.
  const started = await startWith((real) => ({
    beginToolCall: async (intent) => {
      reached.resolve();
      await Promise.race([listed.promise, aborted.promise.then(() => delay(500))]);
      return real.beginToolCall(intent).finally(begun.resolve);
    },
    listToolCalls: async (run_id) => {
      const calls = await real.listToolCalls(run_id);
      listed.resolve();
      return calls;
    },
    finishRun: async (...end) => {
      await begun.promise;
      return real.finishRun(...end);
    },
  }));
  const run_id = await send(started, "Use the launch tool");
  await reached.promise;
  await started.runtime.engine.abort(started.session.id);
  aborted.resolve();
  const events = await eventsOf(started, run_id);
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
  expect(await started.storage.listToolCalls(run_id)).toEqual([]);
  expect(started.effects).toEqual([]);
  expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
});

it("an abort that comes while the call is counted against a budget: the tool never runs, and no intent stays open", async () => {
  const reached = Promise.withResolvers<void>();
  const listed = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const started = await startWith((real) => ({
    budgets: {
      ...real.budgets,
      reserve: async (asked) => {
        if (asked.tool_calls === 0) return real.budgets.reserve(asked);
        reached.resolve();
        await Promise.race([listed.promise, aborted.promise.then(() => delay(500))]);
        return real.budgets.reserve(asked);
      },
    },
    listToolCalls: async (run_id) => {
      const calls = await real.listToolCalls(run_id);
      listed.resolve();
      return calls;
    },
  }));
  await started.storage.budgets.putBudgets({}, [BudgetLimit.parse({ period: "day", max_tool_calls: 10 })]);
  const run_id = await send(started, "Use the launch tool");
  await reached.promise;
  await started.runtime.engine.abort(started.session.id);
  aborted.resolve();
  const events = await eventsOf(started, run_id);
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
  expect(await started.storage.listToolCalls(run_id)).toEqual([]);
  expect(started.effects).toEqual([]);
  expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
});

it.each([
  ["a model call", { steps: 1, tool_calls: 0 }],
  ["a tool call", { steps: 0, tool_calls: 1 }],
])("a budget that can't be asked at once holds for %s all the same, which is made once", async (_what, kind) => {
  let failures = 2;
  const started = await startWith((real) => ({
    budgets: {
      ...real.budgets,
      reserve: async (asked) => {
        if (asked.steps === kind.steps && asked.tool_calls === kind.tool_calls && failures-- > 0) throw lost();
        return real.budgets.reserve(asked);
      },
    },
  }));
  await started.storage.budgets.putBudgets({}, [BudgetLimit.parse({ period: "total", max_steps: 10 })]);
  const events = await say(started, "Use the launch tool");
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok" }]);
  expect(started.effects).toEqual(["launched"]);
  const { input_tokens = 0, output_tokens = 0 } = dataOf(events, "usage").at(-1) as Record<string, number>;
  expect(await started.storage.budgets.listBudgets({})).toMatchObject([
    { used_steps: 2, used_tool_calls: 1, used_tokens: input_tokens + output_tokens, reserved_tokens: 0 },
  ]);
});

it("a result that can't be stored at once is not a failure of the tool", async () => {
  let failures = 2;
  const started = await startWith((real) => ({
    finishToolCall: async (...end) => {
      if (failures-- > 0) throw lost();
      return real.finishToolCall(...end);
    },
  }));
  const events = await say(started, "Use the launch tool");
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: "launched" }]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(started.effects).toEqual(["launched"]);
});

it("an intent whose answer was lost was this run's own: the tool runs, once", async () => {
  let answers = 0;
  const started = await startWith((real) => ({
    beginToolCall: async (intent) => {
      const state = await real.beginToolCall(intent);
      if (answers++ === 0) throw lost();
      return state;
    },
  }));
  const events = await say(started, "Use the launch tool");
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: "launched" }]);
  expect(started.effects).toEqual(["launched"]);
  const [{ data } = { data: {} }] = events.filter(({ event }) => event === "done");
  expect(data).toMatchObject({ status: "succeeded" });
});

it("files that can't be stored at once are no failure of the tool that wrote them, and whoever runs the server is told", async () => {
  let failures = 2;
  const started = await startWith((real) => ({
    snapshots: {
      ...real.snapshots,
      saveSnapshot: async (snapshot) => {
        if (failures-- > 0) throw lost();
        return real.snapshots.saveSnapshot(snapshot);
      },
    },
  }));
  const events = await say(started, "Create a file named notes.txt containing exactly the word hello");
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok" }]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(started.errors).toMatchObject([{ code: "storage_unavailable" }]);
});

it("a run whose last step can't be stored is not counted as cut off, and ends once the storage takes it", async () => {
  let failures = 5;
  const failing = new Set<object>();
  const started = await startWith((real) => ({
    finishRun: async (lease, end) => {
      if (failures-- <= 0) return real.finishRun(lease, end);
      failing.add(lease);
      throw lost();
    },
  }));
  const saver = await started.storage.getCheckpointer();
  const flush = saver.flush.bind(saver);
  saver.flush = async (thread_id, lease) => {
    await flush(thread_id, lease);
    if (failing.has(lease)) throw lost();
  };
  const events = await say(started, "Hello");
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(dataOf(events, "status").filter(({ status }) => status === "resuming")).toHaveLength(5);
  expect(started.errors).toMatchObject(Array.from({ length: 5 }, () => ({ code: "storage_unavailable" })));
});

it("an end that can't be stored by itself is tried again, with nothing else done twice", async () => {
  let failures = 2;
  const started = await startWith((real) => ({
    finishRun: async (lease, end) => {
      if (failures-- > 0) throw lost();
      return real.finishRun(lease, end);
    },
  }));
  const events = await say(started, "Hello");
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(dataOf(events, "status").filter(({ status }) => status === "resuming")).toEqual([]);
  expect(started.errors).toEqual([]);
});

it("a last step that the storage never takes fails the run, as one before it would", async () => {
  let failures = 1;
  const started = await startWith((real) => ({
    finishRun: async (lease, end) => {
      if (failures-- > 0) throw new AppError("validation_failed", "too big to be stored");
      return real.finishRun(lease, end);
    },
  }));
  const events = await say(started, "Hello");
  expect(dataOf(events, "done")).toMatchObject([{ status: "failed" }]);
  expect(dataOf(events, "error")).toMatchObject([{ code: "validation_failed" }]);
  expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
});
