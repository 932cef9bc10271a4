import { describe, expect, it } from "vitest";
import { LEASE } from "../checkpoint/lease.ts";
import { EMPTY_TREE } from "../snapshot/tree.ts";
import type { Storage } from "../storage.ts";
import { put } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { blob, file, tree } from "./snapshot-objects.ts";
import { endOf, startRun } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

/** A folder with one file, as it is named once it is stored. */
async function stored({ snapshots }: Storage, content: string): Promise<string> {
  const held = blob(content);
  const folder = tree(file("a.txt", held));
  await snapshots.putObjects({}, [held, folder]);
  return folder.hash;
}

/** A session with two checkpoints, whose files were at `one` and at `two`. */
async function filed(storage: Storage) {
  const [one, two, others] = [await stored(storage, "1"), await stored(storage, "2"), await stored(storage, "3")];
  const { session_id, lease } = await startRun(storage);
  const { thread_id } = lease;
  const saver = await storage.getCheckpointer();
  const at = (snapshot: string) => ({ configurable: { [LEASE]: { ...lease, snapshot: () => snapshot } } });
  const first = await put(saver, thread_id, { a: 1 }, at(one));
  const second = await put(saver, first, { a: 2 }, at(two));
  await storage.finishRun(lease, endOf("succeeded"));
  return { session_id, thread_id, first: first.checkpoint.id, second: second.checkpoint.id, one, two, others };
}

async function filesAt({ timeline }: Storage, session_id: string, id: string): Promise<string | null | undefined> {
  return (await timeline.readTimeline(session_id)).find(({ checkpoint_id }) => checkpoint_id === id)?.snapshot_id;
}

export function timelineFilesContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("the files", () => {
    test("go where a rewind takes them, and stay where it does not", async ({ storage }) => {
      const { session_id, thread_id, first, second, one, two, others } = await filed(storage);
      const { timeline, snapshots } = storage;
      const there = { session_id, conversation: true };
      const back = await timeline.rewindSession({
        ...{ ...there, checkpoint_id: first, expected_head: second },
        snapshot_id: one,
      });
      expect(await snapshots.currentSnapshot(thread_id)).toBe(one);
      expect(await filesAt(storage, session_id, back.head)).toBe(one);

      const stayed = await timeline.rewindSession({ ...there, checkpoint_id: second, expected_head: back.head });
      expect(await snapshots.currentSnapshot(thread_id)).toBe(one);
      expect(await filesAt(storage, session_id, stayed.head)).toBe(one);

      const kept = await timeline.rewindSession({
        ...{ ...there, checkpoint_id: second, expected_head: stayed.head },
        ...{ snapshot_id: two, files_stand_at: others },
      });
      expect(await snapshots.currentSnapshot(thread_id)).toBe(others);
      expect(await filesAt(storage, session_id, kept.head)).toBe(two);
    });

    test("of a fork are those of its checkpoint, or others, or none", async ({ storage }) => {
      const { session_id, first, one, others } = await filed(storage);
      const { timeline, snapshots } = storage;
      const from = { session_id, checkpoint_id: first };
      const same = await timeline.forkSession({ ...from, files: true });
      const other = await timeline.forkSession({ ...from, files: true, snapshot_id: others });
      const none = await timeline.forkSession({ ...from, files: false });
      const stand = [same, other, none].map(({ thread_id }) => snapshots.currentSnapshot(thread_id));
      expect(await Promise.all(stand)).toEqual([one, others, null]);
      const begun = [same, other, none].map(({ id }) => filesAt(storage, id, first));
      expect(await Promise.all(begun)).toEqual([one, one, EMPTY_TREE]);
    });
  });
}
