import type { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LEASE, type WriterLease } from "../checkpoint/lease.ts";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import type { Storage } from "../storage.ts";
import { elsewhere, type Point, put } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { expectRebuilt, human } from "./projected-conversation.ts";
import { claim } from "./started-run.ts";
import { rewind } from "./timeline-contract.ts";
import { withStorage } from "./with-storage.ts";

const RUNS = 30;
/** Thousands of round trips to a database. */
const TIMEOUT = { timeout: 300_000 };

interface Step {
  /** The list of this step; its last message is edited, if there is something to say. */
  ids: string[];
  edit: string | null;
  /** After which checkpoint, if not after the last. */
  from: number | null;
  elsewhere: boolean;
  /** Which checkpoint the session then goes back, or forth, to. */
  rewind: number | null;
}

/** The rows against what a rebuild would make of them, whatever happens to the list. */
export function projectionModelContract(open: OpenStorage): void {
  describe("messages of a session, against a rebuild", () => {
    it(
      "are the same after every checkpoint and every rewind: added, edited, removed, in another order, on another branch",
      TIMEOUT,
      withStorage(open, async ({ storage, second }) => {
        const savers = [await storage.getCheckpointer(), await elsewhere(storage, second)] as const;
        await fc.assert(
          fc.asyncProperty(fc.array(anyStep(), { maxLength: 12 }), (steps) => walk(storage, savers, steps)),
          { numRuns: RUNS },
        );
      }),
    );

    it(
      "are the same after several checkpoints of one commit, beside messages that were only accepted",
      TIMEOUT,
      withStorage(open, async ({ storage }) => {
        await fc.assert(
          fc.asyncProperty(fc.array(anyStep(), { maxLength: 12 }), (steps) => walkTogether(storage, steps)),
          { numRuns: RUNS },
        );
      }),
    );
  });
}

async function walk(
  storage: Storage,
  savers: readonly [CheckpointSaver, CheckpointSaver],
  steps: readonly Step[],
): Promise<void> {
  const { id, thread_id } = await storage.createSession({});
  const points: Point[] = [];
  const known = new Map<string, HumanMessage>();
  for (const step of steps) {
    const after = step.from === null ? points.at(-1) : points[step.from % Math.max(1, points.length)];
    const saver = savers[step.elsewhere ? 1 : 0];
    points.push(await put(saver, after ?? thread_id, { messages: listOf(step, known) }));
    await expectShown(storage, id, points.at(-1) as Point);
    if (step.rewind === null) continue;
    points.push(await goTo(storage, id, points[step.rewind % points.length] as Point));
    await expectShown(storage, id, points.at(-1) as Point);
  }
}

/** What the state holds, in its order; and a rebuild finds nothing to do. */
async function expectShown(storage: Storage, session_id: string, { checkpoint }: Point): Promise<void> {
  const rows = await storage.listMessagesForSession(session_id);
  const held = rows.filter(({ metadata }) => !metadata["summarized"]).map(({ id }) => id);
  expect(held).toEqual((checkpoint.channel_values["messages"] as HumanMessage[]).map(({ id }) => id));
  await expectRebuilt(storage, session_id);
}

async function goTo(storage: Storage, session_id: string, { config, checkpoint }: Point): Promise<Point> {
  const { head } = await rewind(storage, session_id, config.configurable?.["checkpoint_id"]);
  return { config: { configurable: { ...config.configurable, checkpoint_id: head } }, checkpoint };
}

/** All on one branch and in one process: a step that would be put elsewhere is where a commit ends instead. */
async function walkTogether(storage: Storage, steps: readonly Step[]): Promise<void> {
  const saver = await storage.getCheckpointer();
  const { id: session_id } = await storage.createSession({});
  for (const id of ["b", "never"]) await storage.createRun({ session_id, message: { id, role: "user", content: id } });
  const { thread_id, ...lease } = await claim(storage, { session_id });
  const writer: WriterLease = { ...lease, pipelined: true };
  const known = new Map<string, HumanMessage>();
  let last: Point | undefined;
  for (const step of steps) {
    last = await put(
      saver,
      last ?? thread_id,
      { messages: listOf(step, known) },
      { configurable: { [LEASE]: writer } },
    );
    if (!step.elsewhere) continue;
    await saver.flush(thread_id, writer);
    await expectRebuilt(storage, session_id);
  }
  await saver.flush(thread_id, writer);
  await expectRebuilt(storage, session_id);
}

/** Messages that nobody has edited are the same objects as before. */
function listOf({ ids, edit }: Step, known: Map<string, HumanMessage>): HumanMessage[] {
  const last = ids.at(-1);
  if (edit !== null && last !== undefined) known.set(last, human(last, edit));
  for (const id of ids) if (!known.has(id)) known.set(id, human(id));
  return ids.map((id) => known.get(id) as HumanMessage);
}

function anyStep(): fc.Arbitrary<Step> {
  const ids = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), { maxLength: 7 });
  return fc.record({
    // In order twice as often: that is what a conversation does.
    ids: fc.oneof(
      ids.map((list) => list.toSorted()),
      ids.map((list) => list.toSorted()),
      ids,
    ),
    edit: fc.option(fc.string()),
    from: fc.option(fc.nat({ max: 20 }), { freq: 1 }),
    elsewhere: fc.boolean(),
    rewind: fc.option(fc.nat({ max: 20 }), { freq: 1 }),
  });
}
