import { isRunOutcome, type Run, type StoredEvent } from "@cognition/contract";
import type { Storage, ToolCallRecord } from "@cognition/thread";
import { expect } from "vitest";
import { CRASH_TOOLS } from "./crash-tools.ts";
import type { EntryOf } from "./ledger.ts";

type Effect = EntryOf<"effect">;

/** No call had a second effect unless it may; what is recorded as done was done; what nobody knows was said so. */
export async function checkTools(
  storage: Storage,
  run: Run,
  events: readonly StoredEvent[],
  effects: readonly Effect[],
): Promise<void> {
  const calls = await storage.listToolCalls(run.id);
  const told = events.filter((event) => event.run_id === run.id && event.event === "tool_result");
  for (const call of calls) {
    if (CRASH_TOOLS[call.name]) checkEffects(call, effects);
    if (isRunOutcome(run.status)) checkOutcome(run, call, told);
  }
  const journaled = new Set(calls.map(({ idempotency_key }) => idempotency_key));
  const own = effects.filter(({ run_id }) => run_id === run.id);
  const unrecorded = own.filter(({ idempotency_key }) => !journaled.has(idempotency_key));
  expect(unrecorded, `effects of run ${run.id} without an intent`).toEqual([]);
}

function checkEffects(
  { name, status, attempt, idempotency_key: key }: ToolCallRecord,
  effects: readonly Effect[],
): void {
  const count = effects.filter((effect) => effect.idempotency_key === key).length;
  const most = CRASH_TOOLS[name]?.on_crash === "retry" ? attempt : 1;
  expect(count, `effects of ${name} (${key}), begun ${attempt} times`).toBeLessThanOrEqual(most);
  if (status === "ok") expect(count, `effects of ${name} (${key}), recorded as done`).toBeGreaterThan(0);
}

function checkOutcome(run: Run, { name, status, tool_call_id }: ToolCallRecord, told: readonly StoredEvent[]): void {
  const end = `its run ${run.id} ${run.status} in attempt ${run.attempt}`;
  expect(status, `the record of ${name} ${tool_call_id} after ${end}`).not.toBe("started");
  const results = told.flatMap(({ data }) => {
    const { outcome, tool_call_id: id } = data as { outcome: string; tool_call_id: string };
    return id === tool_call_id ? [{ outcome, data: JSON.stringify(data) }] : [];
  });
  expect(results.at(-1)?.outcome, `what was told of ${name} ${tool_call_id}`).toBe(status);
  if (status === "unknown") expect(results.at(-1)?.data).toContain("outcome_unknown");
}

/** Whatever ids the calls had: a message that asked once for a tool that must not run twice has had one effect. */
export function checkNotes(effects: readonly Effect[], commands: readonly string[]): void {
  const once = effects.filter(({ tool }) => CRASH_TOOLS[tool]?.on_crash !== "retry").map(({ note }) => note);
  for (const notes of [once, commands]) {
    const twice = notes.filter((note, index) => notes.indexOf(note) !== index);
    expect(twice, "what was done twice").toEqual([]);
  }
}
