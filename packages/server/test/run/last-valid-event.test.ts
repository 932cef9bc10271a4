import type { NewEvent } from "@cognition/contract";
import { openStorage } from "@cognition/thread";
import { describe, expect, it } from "vitest";
import { lastValidEvent } from "../../src/run/last-valid-event.ts";

const checkpoint: NewEvent = { event: "checkpoint", data: { run_id: null, checkpoint_id: "c", step: 1 } };
const moved: NewEvent = { event: "head_moved", data: { run_id: null, head: "c", previous_head: "b" } };
const token: NewEvent = { event: "token", data: { run_id: null, content: "Half" } };

/** The place of the last event that counts, the run's two of its beginning left out. */
async function lastOf(...events: readonly NewEvent[]): Promise<number> {
  const storage = await openStorage("memory");
  try {
    const { id } = await storage.createSession({});
    const queued: NewEvent = { event: "status", data: { run_id: null, status: "queued" } };
    await storage.createRun({ session_id: id, message: { role: "user", content: "Go" }, events: [queued] });
    const claimed = await storage.claimRun({ owner: "node", lease_ms: 30_000 });
    if (!claimed) throw new Error("nothing to claim");
    const { thread_id, run_id, epoch } = claimed;
    const saver = await storage.getCheckpointer();
    const lease = { run_id, epoch };
    await saver.appendEvents(
      thread_id,
      lease,
      events.map((event, at) => ({ ...event, ordinal: claimed.next_ordinal + at })),
    );
    await saver.flush(thread_id, lease);
    return (await lastValidEvent(storage, claimed)) - 1;
  } finally {
    await storage.close();
  }
}

describe("after a crash", () => {
  it("what was said since the last checkpoint is void", async () => {
    expect(await lastOf(checkpoint, token)).toBe(1);
  });

  it("a move of the head stands, since it is not made again", async () => {
    expect(await lastOf(moved, token)).toBe(1);
  });
});
