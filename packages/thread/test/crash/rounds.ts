import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { KillPlan } from "./failpoint.ts";
import { readLedger } from "./ledger.ts";
import type { Order, Recording } from "./orders.ts";
import type { Scene } from "./scene.ts";
import type { WriterProcess } from "./writer-process.ts";

/** A writer is in the middle of its work for so long. */
const LONGEST_LIFE_MS = 400;
const DEADLINE_MS = 120_000;
const LINES_TOLD = 12;

export function orderOf(round: number, rest: Pick<Order, "open" | "session">): Order {
  // Every other crash leaves a lease behind that has to run out first.
  return { lanes: 3, lease_ms: round % 2 === 0 ? 0 : 150, seed: round, ...rest };
}

/** Every step once, in peace. */
export async function record(scene: Scene): Promise<Recording> {
  const writer = scene.hire();
  await writer.ready;
  writer.begin({ ...orderOf(0, { open: [] }), record: true });
  const said = await writer.next();
  if (typeof said !== "object" || !("passed" in said)) throw new Error("the recording said something else");
  expect(await writer.ended).toEqual({ killed: false, errors: "" });
  return said;
}

/**
 * One writer after the other goes on with what the last one left, and dies: where the plan says, or at any moment.
 * Before each of them the database is checked.
 */
export async function killOneByOne(scene: Scene, plans: readonly (KillPlan | undefined)[]): Promise<KillPlan[]> {
  const hits: KillPlan[] = [];
  let next = scene.hire();
  for (const [round, plan] of plans.entries()) {
    const rest = await scene.check();
    const writer = next;
    await writer.ready;
    next = scene.hire();
    writer.begin({ ...orderOf(round, rest), ...(plan && { plan, lanes: 2 }) });
    if (plan) {
      await untilItDies(scene, writer, plan);
      hits.push(plan);
    } else {
      await delay(scene.random() * LONGEST_LIFE_MS);
      await writer.kill();
    }
    expect(await writer.ended, `how writer ${round} died (${JSON.stringify(plan)})`).toEqual({
      killed: true,
      errors: "",
    });
  }
  await finish(scene, next);
  return hits;
}

async function untilItDies(scene: Scene, writer: WriterProcess, plan: KillPlan): Promise<void> {
  const deadline = new AbortController();
  const late = delay(DEADLINE_MS, "late" as const, { signal: deadline.signal });
  const first = await Promise.race([writer.ended, late]);
  deadline.abort();
  late.catch(() => undefined);
  if (first !== "late") return;
  const last = readLedger(scene.ledger).slice(-LINES_TOLD);
  const told = last.map((entry) => JSON.stringify(entry)).join("\n");
  throw new Error(`${plan.method} did not come to "${plan.point}" in step ${plan.step}; the ledger ends with\n${told}`);
}

/** The last one lives: it ends every run that was interrupted, writes once more, and then all there is is checked. */
export async function finish(scene: Scene, writer = scene.hire()): Promise<void> {
  const rest = await scene.check();
  await writer.ready;
  writer.begin({ ...orderOf(0, rest), rounds: 2 });
  expect(await writer.next()).toEqual({ finished: true });
  expect(await writer.ended).toEqual({ killed: false, errors: "" });
  const { open } = await scene.checkAll();
  expect(open, "runs that nobody has ended").toEqual([]);
}

/** Waits until so many more steps were done, by whichever writers; a writer that ends instead is a failure. */
export async function untilSteps(scene: Scene, more: number, writers: readonly WriterProcess[]): Promise<void> {
  const count = () => readLedger(scene.ledger).filter(({ t }) => t === "step").length;
  const enough = count() + more;
  const deadline = performance.now() + DEADLINE_MS;
  const ended = Promise.race(writers.map((writer) => writer.ended));
  while (count() < enough) {
    const first = await Promise.race([ended, delay(20)]);
    if (first) throw new Error(`a writer ended: ${first.errors}`);
    if (performance.now() > deadline) throw new Error(`writers did not do ${more} steps in ${DEADLINE_MS} ms`);
  }
}
