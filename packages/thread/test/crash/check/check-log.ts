import { isRunOutcome, type Run, type StoredEvent } from "@cognition/contract";
import { expect } from "vitest";
import { readAll } from "../../../src/conformance/started-run.ts";
import type { Storage } from "../../../src/storage.ts";

/** The session's log: no number is missing or given twice, and every run's part of it is whole. */
export async function checkLog(storage: Storage, session_id: string, runs: readonly Run[]): Promise<StoredEvent[]> {
  const events = await readAll(storage, session_id);
  expect(await storage.lastEventId(session_id), `last event of session ${session_id}`).toBe(events.at(-1)?.id ?? 0);
  checkNumbers(session_id, events);
  const byRun = Map.groupBy(events, ({ run_id }) => run_id);
  for (const run of runs) await checkRun(storage, run, byRun.get(run.id) ?? []);
  return events;
}

/** Missing numbers are only those that a fold stands for. */
function checkNumbers(session_id: string, events: readonly StoredEvent[]): void {
  const folds = events.filter((event) => "folded_from" in event.data) as {
    id: number;
    data: { folded_from: number };
  }[];
  let expected = 1;
  for (const { id } of events) {
    for (; expected < id; expected++) {
      const folded = folds.some((fold) => fold.data.folded_from <= expected && expected < fold.id);
      expect(folded, `event ${expected} of session ${session_id} is missing, and nothing stands for it`).toBe(true);
    }
    expect(id, `a number of session ${session_id}'s log was given twice`).toBe(expected++);
  }
}

async function checkRun(storage: Storage, run: Run, events: readonly StoredEvent[]): Promise<void> {
  const ended = isRunOutcome(run.status);
  const done = events.filter(({ event }) => event === "done");
  expect(done.length, `done events of run ${run.id}, which is ${run.status}`).toBe(ended ? 1 : 0);
  if (ended) {
    expect(events.at(-1)?.event, `last event of run ${run.id}`).toBe("done");
    expect(done[0]?.data, `end of run ${run.id}`).toMatchObject({ status: run.status });
  }
  // A run that was ended in line has no writer that counts.
  const ordinals = events.flatMap(ordinalsOf).sort((a, b) => a - b);
  expect(ordinals, `ordinals of run ${run.id}`).toEqual(ordinals.map((_, index) => index));
  const deliveries = await storage.listDeliveries({ session_id: run.session_id, limit: 200 });
  const ends = deliveries.filter(({ run_id, payload }) => run_id === run.id && Reflect.get(payload, "ends"));
  expect(ends.length, `deliveries of the end of run ${run.id}, which is ${run.status}`).toBe(ended ? 1 : 0);
}

/** A token's content is its ordinal, so that a fold of many still tells them all. */
function ordinalsOf({ event, data }: StoredEvent): number[] {
  if (event === "token") return (data as { content: string }).content.trim().split(" ").map(Number);
  const { n } = data as { n?: number };
  return n === undefined ? [] : [n];
}
