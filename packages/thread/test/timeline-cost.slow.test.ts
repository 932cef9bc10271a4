import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import { put } from "../src/conformance/checkpoint-line.ts";
import { human } from "../src/conformance/projected-conversation.ts";
import { openStorage } from "../src/open-storage.ts";
import { openSqlite } from "../src/sql/sqlite-database.ts";
import type { Storage } from "../src/storage.ts";

/** A session of so many steps, each of which adds a message of 450 characters. */
async function longSession(storage: Storage, steps: number) {
  const session = await storage.createSession({});
  const saver = await storage.getCheckpointer();
  const messages: unknown[] = [];
  const ids: string[] = [];
  let at: string | Awaited<ReturnType<typeof put>> = session.thread_id;
  for (let i = 0; i < steps; i++) {
    messages.push(human(`m${i}`, "x".repeat(450)));
    at = await put(saver, at, { messages: [...messages] }, { step: i });
    ids.push(at.checkpoint.id);
  }
  return { session_id: session.id, ids };
}

async function least(rounds: number, work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

describe("a thread of 2,000 steps against one of 20", () => {
  it("is forked and rewound at the same cost, and a fork adds under 50 KB", { timeout: 120_000 }, async () => {
    const dir = createMemoryDir();
    const path = join(dir.path, "state.db");
    const storage = await openStorage(path);
    const sizes = openSqlite({ path });
    try {
      const cost = async (steps: number) => {
        const { session_id, ids } = await longSession(storage, steps);
        const fork = await least(12, () => storage.timeline.forkSession({ session_id, files: true }));
        let previous = ids.at(-1) ?? "";
        const back = ids.at(-5) ?? "";
        const rewind = await least(12, async () => {
          const at = { session_id, expected_head: previous, conversation: true };
          ({ head: previous } = await storage.timeline.rewindSession({ ...at, checkpoint_id: back }));
        });
        return { session_id, fork, rewind };
      };
      const short = await cost(20);
      const long = await cost(2_000);
      const ratios = { fork: (long.fork / short.fork).toFixed(2), rewind: (long.rewind / short.rewind).toFixed(2) };
      console.log(`2,000 steps against 20: fork ${ratios.fork} ×, rewind ${ratios.rewind} ×`);
      // A hundred times as long: what grows with the thread is far beyond this, and a busy machine is not.
      expect(long.fork / short.fork).toBeLessThanOrEqual(10);
      expect(long.rewind / short.rewind).toBeLessThanOrEqual(10);
      const before = await sizes.size();
      for (let i = 0; i < 10; i++) await storage.timeline.forkSession({ session_id: long.session_id, files: true });
      expect(((await sizes.size()) - before) / 10).toBeLessThan(50_000);
    } finally {
      await sizes.close();
      await storage.close();
      dir.remove();
    }
  });
});
