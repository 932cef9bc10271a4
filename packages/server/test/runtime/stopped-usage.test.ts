import type { Run } from "@cognition/contract";
import { describe, expect, it, onTestFinished } from "vitest";
import { anthropic } from "../model/anthropic-server.ts";
import { openai } from "../model/openai-server.ts";
import { PROTOCOLS, type Protocol } from "../model/providers.ts";
import type { Answer, Piece } from "../model/scripted-server.ts";
import { scriptedOver } from "./scripted-provider.ts";
import { dataOf, eventsOf, type Started, send, startRuntime } from "./started-runtime.ts";

const [OPENAI, ANTHROPIC] = PROTOCOLS as readonly [Protocol, Protocol];
const LONG = "word ".repeat(200);
const HANG: Piece = { type: "hang" };

async function startOver(protocol: Protocol, ...answers: readonly Answer[]) {
  const { server, options } = await scriptedOver(protocol, ...answers);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const started = await startRuntime(options);
  const body = JSON.stringify({ budgets: [{ period: "total", max_tokens: 1_000_000 }] });
  expect((await started.runtime.http.app.request("/budgets", { method: "PUT", body })).status).toBe(200);
  return { ...started, server };
}

async function usedOfBudget({ storage }: Started): Promise<number | undefined> {
  return (await storage.budgets.listBudgets({}))[0]?.used_tokens;
}

/** Stops the run once the model was asked so often and `ready` holds. */
async function stopped(started: Awaited<ReturnType<typeof startOver>>, ready: () => Promise<boolean>): Promise<Run> {
  const run_id = await send(started, "Go");
  await expect.poll(async () => started.server.requests.length > 0 && (await ready()), { timeout: 30_000 }).toBe(true);
  await started.runtime.engine.abort(started.session.id);
  const events = await eventsOf(started, run_id);
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
  return started.storage.getRun(run_id);
}

const told = (started: Started) => async () => {
  const { events } = await started.storage.readEvents({ session_id: started.session.id, after: 0, limit: 100 });
  return events.some(({ event }) => event === "token" || event === "reasoning");
};

describe("what a stopped answer has used is counted, for the run and for its budgets", () => {
  const cases: [string, Protocol, readonly Piece[]][] = [
    ["openai", OPENAI, [openai.start, openai.text(LONG), HANG]],
    [
      "anthropic, which tells the input at the start",
      ANTHROPIC,
      [
        anthropic.start(7_000),
        anthropic.block(0, { type: "text", text: "" }),
        anthropic.delta(0, { type: "text_delta", text: LONG }),
        HANG,
      ],
    ],
    [
      "thoughts",
      ANTHROPIC,
      [
        anthropic.start(7_000),
        anthropic.block(0, { type: "thinking", thinking: "", signature: "" }),
        anthropic.delta(0, { type: "thinking_delta", thinking: LONG }),
        HANG,
      ],
    ],
  ];
  it.each(cases)("%s", async (_name, protocol, pieces) => {
    const started = await startOver(protocol, { type: "stream", pieces });
    const { usage } = await stopped(started, told(started));
    expect(usage).toMatchObject({ estimated: true });
    expect(usage?.output_tokens).toBeGreaterThanOrEqual(250);
    expect(usage?.output_tokens).toBeLessThan(400);
    if (protocol === ANTHROPIC) expect(usage?.input_tokens).toBe(7_000);
    else expect(usage?.input_tokens).toBeGreaterThan(100);
    expect(await usedOfBudget(started)).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
  });

  it("a call of a tool that was still being written, of which nothing was told", async () => {
    const pieces = [
      openai.text("I write."),
      openai.toolStart(0, "c1", "write_file"),
      openai.toolArgs(0, `{"a":"${LONG}`),
    ];
    // In one write: who has heard the text has the call's beginning too.
    const data = pieces.map((piece) => (piece.type === "raw" ? piece.data : "")).join("");
    const started = await startOver(OPENAI, { type: "stream", pieces: [openai.start, { type: "raw", data }, HANG] });
    const { usage } = await stopped(started, told(started));
    expect(usage?.output_tokens).toBeGreaterThanOrEqual(250);
    expect(await usedOfBudget(started)).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
  });

  it("an answer that broke off, and failed", async () => {
    const started = await startOver(OPENAI, {
      type: "stream",
      pieces: [openai.start, openai.text(LONG), { type: "reset" }],
    });
    const run_id = await send(started, "Go");
    expect(dataOf(await eventsOf(started, run_id), "done")).toMatchObject([{ status: "failed" }]);
    const { usage } = await started.storage.getRun(run_id);
    expect(usage?.output_tokens).toBeGreaterThanOrEqual(250);
    expect(await usedOfBudget(started)).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
  });

  it("what had not begun to answer has used nothing", async () => {
    const started = await startOver(OPENAI, { type: "silence" });
    const { usage } = await stopped(started, async () => true);
    expect(usage).toBeNull();
    expect(await usedOfBudget(started)).toBe(0);
  });
});
