import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { type KillPlan, POINTS, type Point } from "./kill-point.ts";
import type { NodeProcess } from "./node-process.ts";
import { REQUESTS, type RequestKind } from "./requests.ts";
import type { Scene } from "./scene.ts";

/** A place to die at, and what to ask for so that a node comes there. */
export interface Round extends Omit<KillPlan, "skip"> {
  asks: RequestKind;
  skips?: number;
}

const DEADLINE_MS = 180_000;
/** A node is in the middle of its work for so long. */
const LONGEST_LIFE_MS = 700;

/** A run that met one death after the other is given up; and a busy machine may be later than a short lease. */
const EXPECTED: ReadonlySet<string | undefined> = new Set(["too_many_attempts", "stale_epoch"]);

/** Of each tool, at each point of its call: the second list says by which request it is called, and where. */
const TOOL_POINTS = ["before the intent", "after the intent", "before the result", "after the result"] as const;
const ONCE = "charge";
const CALLS: readonly { tool: string; asks: RequestKind }[] = [
  { tool: "charge", asks: "charge" },
  { tool: "charge", asks: "helper" },
  { tool: "charge", asks: "steps" },
  { tool: "record", asks: "record" },
  { tool: "order", asks: "order" },
  { tool: "execute", asks: "command" },
  { tool: "write_file", asks: "file" },
];

export const ROUNDS: readonly Round[] = [
  ...TOOL_POINTS.flatMap((at) => CALLS.map((call) => ({ at, ...call }))),
  ...(["charge", "record", "linger", "order"] as const).map((tool) => ({
    at: "in the tool" as const,
    tool,
    asks: tool,
  })),
  { at: "in the tool", tool: "charge", asks: "helper" },
  { at: "in the answer", asks: "hello", skips: 4 },
  { at: "in the answer", asks: "helper", skips: 4 },
  { at: "before a checkpoint", asks: "steps", skips: 6 },
  { at: "after a checkpoint", asks: "steps", skips: 6 },
  { at: "before a checkpoint", asks: "helper", skips: 6 },
  { at: "after a checkpoint", asks: "helper", skips: 6 },
  { at: "at the admission", asks: "charge" },
  { at: "before the end", asks: "record" },
  { at: "in the commit of the end", asks: "hello" },
  { at: "after the end", asks: "charge" },
];

/** One round at each point; in a tool that must not run twice, called by whichever agent: nothing shows more. */
export function onePerPoint(random: () => number): Round[] {
  return POINTS.map((point) => {
    const here = ROUNDS.filter(({ at, tool = ONCE }) => at === point && tool === ONCE);
    return pick(here, random);
  });
}

/** One node after the other goes on with what the last one left, and dies; in between everything is checked. */
export async function killOneByOne(scene: Scene, rounds: readonly (Round | undefined)[]): Promise<Map<Point, number>> {
  const hits = new Map<Point, number>(POINTS.map((point) => [point, 0]));
  let next = scene.hire();
  for (const [index, round] of rounds.entries()) {
    const node = next;
    await node.heard("ready");
    next = scene.hire();
    await (round ? dieAt(scene, node, round) : dieAnywhere(scene, node));
    if (round) hits.set(round.at, (hits.get(round.at) ?? 0) + 1);
    checkDeath(await node.ended, node, `node ${index}, which was to die ${round?.at ?? "anywhere"}`);
    await scene.check();
  }
  await finish(scene, next);
  return hits;
}

async function dieAt(scene: Scene, node: NodeProcess, { asks, skips = 1, ...plan }: Round): Promise<void> {
  const skip = Math.floor(scene.random() * skips);
  begin(scene, node, [asks, pick(kinds(), scene.random)], { ...plan, skip });
  const first = await Promise.race([node.ended, node.heard("idle").then(() => "idle"), late()]);
  if (typeof first === "string") throw new Error(`a node did not come to die ${plan.at} (${asks}), it was ${first}`);
}

async function dieAnywhere(scene: Scene, node: NodeProcess): Promise<void> {
  begin(scene, node, [pick(kinds(), scene.random), pick(kinds(), scene.random), "steps"]);
  await node.heard("accepted");
  await delay(scene.random() * LONGEST_LIFE_MS);
  node.signal("SIGKILL");
}

function begin(scene: Scene, node: NodeProcess, asked: readonly RequestKind[], plan?: KillPlan): void {
  const messages = asked.map((kind) => scene.ask(kind, pick(scene.sessions, scene.random)));
  node.begin({ plan, messages, sessions: [...scene.sessions] });
}

function checkDeath(end: Awaited<NodeProcess["ended"]>, { errors }: NodeProcess, who: string): void {
  expect(end, who).toEqual({ signal: "SIGKILL", code: null, stderr: "" });
  expect(
    errors.filter(({ code }) => !EXPECTED.has(code)),
    who,
  ).toEqual([]);
}

/** The last one lives: it ends every run that was interrupted, and every session answers once more. */
async function finish(scene: Scene, node: NodeProcess): Promise<void> {
  await node.heard("ready");
  const messages = scene.sessions.map((id) => scene.ask("hello", id));
  node.begin({ messages, sessions: [...scene.sessions] });
  const first = await Promise.race([node.heard("idle").then(() => "idle"), late()]);
  expect(first, "the last node").toBe("idle");
  node.signal("SIGTERM");
  expect(await node.ended).toEqual({ signal: null, code: 0, stderr: "" });
  for (const [id, { runs }] of await scene.check()) {
    expect(runs[0]?.status, `the last run of session ${id}`).toBe("succeeded");
    const failed = runs.filter(({ status }) => status !== "succeeded").map(({ error }) => error?.code);
    expect(failed.filter((code) => code !== "too_many_attempts")).toEqual([]);
  }
}

function late(): Promise<string> {
  return delay(DEADLINE_MS, `still at work after ${DEADLINE_MS} ms`, { ref: false });
}

/** Some take too long to live through, or as long as nobody lets them end. */
function kinds(): RequestKind[] {
  return (Object.keys(REQUESTS) as RequestKind[]).filter((kind) => kind !== "ponder" && kind !== "held_steps");
}

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)] as T;
}
