import { randomBytes } from "node:crypto";
import type { Session } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { LEASE } from "../checkpoint/lease.ts";
import { decodeTree } from "../snapshot/decode-tree.ts";
import { EMPTY_TREE, encodeTreeChange, type TreeEntry, unstoredEntry } from "../snapshot/tree.ts";
import type { NewSnapshotObject } from "../snapshot-store.ts";
import type { Storage } from "../storage.ts";
import { type Point, put } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { blob, file, tree } from "./snapshot-objects.ts";
import { claim, endOf, NO_TIME, startRun } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const ANN = { user: "ann" };
const BOB = { user: "bob" };

/** A workspace with one file of this content, stored and saved as the thread's. */
async function save(storage: Storage, thread_id: string, content: string, scope = {}): Promise<string> {
  const held = blob(content);
  const root = tree(file("a.txt", held));
  const bytes = await storage.snapshots.putObjects(scope, [held, root]);
  const missing = await storage.snapshots.saveSnapshot({
    thread_id,
    snapshot_id: root.hash,
    objects: [held.hash, root.hash],
    bytes,
  });
  expect(missing).toEqual([]);
  return root.hash;
}

async function runOn(storage: Storage, session_id: string) {
  await storage.createRun({ session_id });
  return { lease: await claim(storage, { session_id }) };
}

const NOW = { grace_ms: -60_000 };

export function snapshotContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("objects", () => {
    test("come in portions that fit, one at least, and a tree with what it is a change of", async ({ storage }) => {
      const { snapshots } = storage;
      const files = [1, 2, 3].map((i) => blob(Buffer.alloc(1_000, i)));
      const whole = tree(...files.map((each, i) => file(`f${i}`, each)));
      const next = tree(file("f0", files[0] as NewSnapshotObject));
      const change = encodeTreeChange({ base: whole.hash, set: [], gone: ["f1", "f2"] });
      await snapshots.putObjects({}, [...files, whole]);
      await snapshots.putObjects({}, [{ ...next, base: whole.hash, content: change }]);
      const hashes = files.map(({ hash }) => hash);
      const read = async (names: string[], max_bytes: number) => [
        ...(await snapshots.readObjects({}, names, { max_bytes })).keys(),
      ];
      expect(await read(hashes, 2_500)).toEqual(hashes.slice(0, 2));
      expect(await read(hashes, 0)).toEqual(hashes.slice(0, 1));
      expect(await read([...hashes, next.hash, "nothing"], 3_000)).toEqual(hashes);
      const contents = await snapshots.readObjects({}, [next.hash], { max_bytes: 0 });
      expect(Buffer.from(contents.get(next.hash) ?? "").equals(next.content)).toBe(true);
      await expect(read(["nothing"], 0)).rejects.toMatchObject({ code: "snapshot_not_found" });
    });

    test("come back as they went in, stored once, large, small, odd and empty ones", async ({ storage, second }) => {
      const { snapshots } = storage;
      const objects = [blob(""), blob("\0\ud83d\ude00"), blob(randomBytes(700_000)), ...many(300)];
      expect(
        await snapshots.missingObjects(
          {},
          objects.map(({ hash }) => hash),
        ),
      ).toHaveLength(objects.length);
      const added = await snapshots.putObjects({}, [...objects, ...objects]);
      expect(added).toBeGreaterThan(700_000);
      expect(await snapshots.snapshotBytes({})).toBe(added);
      expect(await snapshots.putObjects({}, objects)).toBe(0);
      expect(
        await snapshots.missingObjects(
          {},
          objects.map(({ hash }) => hash),
        ),
      ).toEqual([]);
      const other = second ? await second() : storage;
      const read = await other.snapshots.readObjects(
        {},
        objects.map(({ hash }) => hash),
      );
      for (const { hash, content } of objects) expect(Buffer.from(read.get(hash) ?? "gone").equals(content)).toBe(true);
    });

    test("small ones that compress take less than they hold", async ({ storage }) => {
      const objects = Array.from({ length: 200 }, (_, i) => blob(`${i} ${"the same words over and over ".repeat(30)}`));
      const held = objects.reduce((sum, { content }) => sum + content.length, 0);
      expect(await storage.snapshots.putObjects({}, objects)).toBeLessThan(held / 10);
    });

    test("belong to their scope: another one neither finds nor reads them", async ({ storage }) => {
      const secret = blob("secret");
      await storage.snapshots.putObjects(ANN, [secret]);
      expect(await storage.snapshots.missingObjects(BOB, [secret.hash])).toEqual([secret.hash]);
      for (const scope of [BOB, {}]) {
        await expect(storage.snapshots.readObjects(scope, [secret.hash])).rejects.toMatchObject({
          code: "snapshot_not_found",
        });
      }
      expect((await storage.snapshots.readObjects(ANN, [secret.hash])).size).toBe(1);
    });

    test("a tree that could not be read is refused, and named", async ({ storage }) => {
      const file = { ...blob("{}"), kind: "tree" as const };
      const good = blob("good");
      for (const bad of [
        file,
        { ...blob("no folder"), kind: "tree" as const },
        { ...blob('[["a","x644","h"]]'), kind: "tree" as const },
        { ...file, base: EMPTY_TREE },
        { ...blob("x"), base: EMPTY_TREE },
        { ...blob("y"), kind: "folder" as never },
      ]) {
        const refused = { code: "validation_failed", message: expect.stringContaining(bad.hash) };
        await expect(storage.snapshots.putObjects({}, [good, bad])).rejects.toMatchObject(refused);
      }
      expect(await storage.snapshots.missingObjects({}, [good.hash])).toEqual([good.hash]);
    });

    test("a file is no snapshot: it is refused, and the scope can still be swept", async ({ storage }) => {
      const { thread_id } = await storage.createSession({});
      const before = await save(storage, thread_id, "kept");
      const held = blob("a file");
      await storage.snapshots.putObjects({}, [held]);
      const saved = storage.snapshots.saveSnapshot({ thread_id, snapshot_id: held.hash, objects: [], bytes: 0 });
      await expect(saved).rejects.toMatchObject({
        code: "validation_failed",
        message: expect.stringContaining(held.hash),
      });
      expect(await storage.snapshots.currentSnapshot(thread_id)).toBe(before);
      expect(await storage.snapshots.sweepSnapshots({ scope: {}, ...NOW })).toMatchObject({ objects: 1 });
    });

    test("a tree kept as a change of a change comes back whole", async ({ storage }) => {
      const [one, two, three] = [blob("1"), blob("2"), blob("3")];
      const whole = tree(file("a", one), file("b", two));
      const then = tree(file("a", three), file("b", two));
      const last = tree(file("a", three), file("c", one));
      const change = (to: NewSnapshotObject, base: string, set: TreeEntry[], gone: string[]) => ({
        ...to,
        base,
        content: encodeTreeChange({ base, set, gone }),
      });
      await storage.snapshots.putObjects({}, [one, two, three, whole]);
      await storage.snapshots.putObjects({}, [change(then, whole.hash, [file("a", three)], [])]);
      await storage.snapshots.putObjects({}, [change(last, then.hash, [file("c", one)], ["b"])]);
      const read = await storage.snapshots.readObjects({}, [last.hash, whole.hash, EMPTY_TREE]);
      expect(Buffer.from(read.get(last.hash) ?? "").equals(last.content)).toBe(true);
      expect(Buffer.from(read.get(whole.hash) ?? "").equals(whole.content)).toBe(true);
      expect(Buffer.from(read.get(EMPTY_TREE) ?? "").toString()).toBe("[]");
    });

    test("that are folders say of what is not stored that it is there, and of what kind the rest is", async ({
      storage,
    }) => {
      const held = blob("held");
      const entries: TreeEntry[] = [
        file("a", held),
        { name: "empty", type: "tree", mode: 0o755, hash: EMPTY_TREE },
        unstoredEntry("secret"),
      ];
      const whole = tree(...entries);
      await storage.snapshots.putObjects({}, [held, whole]);
      const read = await storage.snapshots.readObjects({}, [whole.hash]);
      expect(decodeTree(read.get(whole.hash) ?? Buffer.of())).toEqual(entries);
    });
  });

  describe("a workspace", () => {
    test("stands where it was saved, also after a reopen, and counts for its session", async ({ storage, reopen }) => {
      const { thread_id, id } = await storage.createSession({});
      expect(await storage.snapshots.currentSnapshot(thread_id)).toBeNull();
      const before = (await storage.getSession(id))?.storage_bytes ?? 0;
      const saved = await save(storage, thread_id, "one");
      const again = reopen ? await reopen() : storage;
      expect(await again.snapshots.currentSnapshot(thread_id)).toBe(saved);
      expect((await again.getSession(id))?.storage_bytes).toBeGreaterThan(before);
    });

    test("is not moved to what is not stored, and is told what is missing", async ({ storage }) => {
      const { thread_id } = await storage.createSession({});
      const saved = await save(storage, thread_id, "one");
      const lost = blob("never stored");
      const root = tree(file("a", lost));
      await storage.snapshots.putObjects({}, [root]);
      const attempt = { thread_id, snapshot_id: root.hash, objects: [root.hash, lost.hash], bytes: 0 };
      expect(await storage.snapshots.saveSnapshot(attempt)).toEqual([lost.hash]);
      expect(await storage.snapshots.currentSnapshot(thread_id)).toBe(saved);
    });

    test("is not moved by a worker whose run was taken over", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const thread_id = lease.thread_id;
      await storage.renewLease(lease, NO_TIME);
      await storage.claimRun({ owner: "other", lease_ms: 1_000, session_id });
      const root = tree();
      const late = { thread_id, snapshot_id: root.hash, objects: [], bytes: 0, lease };
      await expect(storage.snapshots.saveSnapshot(late)).rejects.toMatchObject({ code: "stale_epoch" });
      expect(await storage.snapshots.currentSnapshot(thread_id)).toBeNull();
    });

    test("is not moved under a run that is at work, if that is asked for", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const { thread_id } = lease;
      const change = { thread_id, snapshot_id: EMPTY_TREE, objects: [], bytes: 0, unless_held: true };
      await expect(storage.snapshots.saveSnapshot(change)).rejects.toMatchObject({ code: "session_busy" });
      expect(await storage.snapshots.currentSnapshot(thread_id)).toBeNull();
      await storage.finishRun(lease, endOf("succeeded"));
      await storage.createRun({ session_id }); // one that waits for its turn finds the files when that comes
      expect(await storage.snapshots.saveSnapshot(change)).toEqual([]);
      expect(await storage.snapshots.currentSnapshot(thread_id)).toBe(EMPTY_TREE);
    });

    test("is named by the checkpoints of the run that saved it, each by its own", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      let snapshot: string | undefined = "first";
      const configurable = { [LEASE]: { ...lease, snapshot: () => snapshot } };
      const one = await put(saver, lease.thread_id, { a: 1 }, { configurable });
      snapshot = "second";
      const two = await put(saver, one, { a: 2 }, { configurable });
      snapshot = undefined;
      const three = await put(saver, two, { a: 3 }, { configurable });
      const timeline = await storage.timeline.readTimeline(session_id);
      expect(timeline.map(({ checkpoint_id, snapshot_id }) => [checkpoint_id, snapshot_id])).toEqual([
        [three.checkpoint.id, null],
        [two.checkpoint.id, "second"],
        [one.checkpoint.id, "first"],
      ]);
    });

    test("of a thread that is not there can't be saved", async ({ storage }) => {
      const late = { thread_id: "nothing", snapshot_id: EMPTY_TREE, objects: [], bytes: 0 };
      await expect(storage.snapshots.saveSnapshot(late)).rejects.toMatchObject({ code: "thread_not_found" });
    });
  });

  describe("a sweep", () => {
    test("removes what nothing leads to, and only that", async ({ storage }) => {
      const { thread_id } = await storage.createSession({});
      const { thread_id: other } = await storage.createSession({ scopes: ANN });
      const garbage = [blob("garbage"), blob(randomBytes(300_000))];
      await storage.snapshots.putObjects({}, garbage);
      const kept = await save(storage, thread_id, "kept");
      const anns = await save(storage, other, "ann's", ANN);
      const before = await storage.snapshots.snapshotBytes({});
      const report = await storage.snapshots.sweepSnapshots({ scope: {}, ...NOW });
      expect(report).toMatchObject({ objects: 2, forgotten: 0 });
      expect(await storage.snapshots.snapshotBytes({})).toBe(before - report.bytes);
      expect(report.bytes).toBeGreaterThan(300_000);
      expect(
        await storage.snapshots.missingObjects(
          {},
          garbage.map(({ hash }) => hash),
        ),
      ).toHaveLength(2);
      await storage.snapshots.readObjects({}, [kept, blob("kept").hash]);
      await storage.snapshots.readObjects(ANN, [anns, blob("ann's").hash]);
    });

    test("leaves what is young alone: it may be about to be named", async ({ storage }) => {
      await storage.snapshots.putObjects({}, [blob("on its way")]);
      expect(await storage.snapshots.sweepSnapshots({ scope: {} })).toMatchObject({ objects: 0 });
      expect(await storage.snapshots.missingObjects({}, [blob("on its way").hash])).toEqual([]);
    });

    test("keeps the tree that a kept one is a change of, and packs that are half empty are written anew", async ({
      storage,
    }) => {
      const { thread_id } = await storage.createSession({});
      const files = many(60);
      const whole = tree(...files.slice(0, 2).map((each, i) => file(`f${i}`, each)));
      const next = tree(file("f0", files[0] as NewSnapshotObject));
      const change = encodeTreeChange({ base: whole.hash, set: [], gone: ["f1"] });
      await storage.snapshots.putObjects({}, [...files, whole]);
      await storage.snapshots.putObjects({}, [{ ...next, base: whole.hash, content: change }]);
      const saved = { thread_id, snapshot_id: next.hash, objects: [next.hash], bytes: 0 };
      expect(await storage.snapshots.saveSnapshot(saved)).toEqual([]);
      const before = await storage.snapshots.snapshotBytes({});
      await storage.snapshots.sweepSnapshots({ scope: {}, ...NOW });
      expect(await storage.snapshots.snapshotBytes({})).toBeLessThan(before / 5);
      const read = await storage.snapshots.readObjects({}, [next.hash, files[0]?.hash ?? ""]);
      expect(Buffer.from(read.get(next.hash) ?? "").equals(next.content)).toBe(true);
      expect(Buffer.from(read.get(files[0]?.hash ?? "") ?? "").equals(files[0]?.content ?? Buffer.of())).toBe(true);
    });

    test("a quota takes the files of old checkpoints, never what a thread or a folder stands at", async ({
      storage,
    }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const say = async (after: Point | string, snapshot: string) => {
        const { lease } = await runOn(storage, id);
        const configurable = { [LEASE]: { ...lease, snapshot: () => snapshot } };
        const point = await put(saver, after, { messages: [] }, { configurable });
        await storage.finishRun(lease, endOf("succeeded"));
        return point;
      };
      const old = await save(storage, thread_id, `old ${"x".repeat(1_000)}`);
      const first = await say(thread_id, old);
      const forked = await save(storage, thread_id, "forked from");
      const middle = await say(first, forked);
      const fork = await storage.timeline.forkSession({
        session_id: id,
        checkpoint_id: middle.checkpoint.id,
        files: true,
      });
      const headed = await save(storage, thread_id, "at the head");
      await say(middle, headed);
      const standing = await save(storage, thread_id, "in the folder");
      const before = await storage.getSession(id);
      const report = await storage.snapshots.sweepSnapshots({ scope: {}, ...NOW, max_bytes: 0 });
      expect(report.forgotten).toBe(1);
      expect(await storage.snapshots.missingObjects({}, [old, forked, headed, standing])).toEqual([old]);
      for (const content of ["forked from", "at the head", "in the folder"]) {
        const { hash } = blob(content);
        const read = await storage.snapshots.readObjects({}, [hash]);
        expect(Buffer.from(read.get(hash) ?? "").toString()).toBe(content);
      }
      expect(await storage.snapshots.currentSnapshot(thread_id)).toBe(standing);
      expect(await storage.snapshots.currentSnapshot(fork.thread_id)).toBe(forked);
      expect((await storage.getSession(id))?.storage_bytes).toBe((before?.storage_bytes ?? 0) - report.bytes);
    });

    const say = async (storage: Storage, { id, thread_id }: Session, after: Point | string, content: string) => {
      const snapshot = await save(storage, thread_id, `${content} ${randomBytes(1_000).toString("hex")}`);
      const { lease } = await runOn(storage, id);
      const configurable = { [LEASE]: { ...lease, snapshot: () => snapshot } };
      const point = await put(await storage.getCheckpointer(), after, { messages: [] }, { configurable });
      await storage.finishRun(lease, endOf("succeeded"));
      return { point, snapshot };
    };

    test("a quota takes the oldest first, whichever session they are of", async ({ storage }) => {
      const [early, late] = [await storage.createSession({}), await storage.createSession({})];
      const first = await say(storage, late, late.thread_id, "first");
      const second = await say(storage, early, early.thread_id, "second");
      await say(storage, late, first.point, "late");
      await say(storage, early, second.point, "early");
      const max_bytes = (await storage.snapshots.snapshotBytes({})) - 500;
      expect((await storage.snapshots.sweepSnapshots({ scope: {}, ...NOW, max_bytes })).forgotten).toBe(1);
      const gone = await storage.snapshots.missingObjects({}, [first.snapshot, second.snapshot]);
      expect(gone).toEqual([first.snapshot]);
    });

    test("a quota makes room at once, also among files of this moment, and takes no more than that needs", async ({
      storage,
    }) => {
      const { snapshots } = storage;
      const session = await storage.createSession({});
      const on: string[] = [];
      let last: Point | string = session.thread_id;
      for (let i = 0; i < 8; i++) {
        const { point, snapshot } = await say(storage, session, last, `step ${i}`);
        on.push(snapshot);
        last = point;
      }
      const waiting = blob(`on its way ${randomBytes(1_000).toString("hex")}`);
      await snapshots.putObjects({}, [waiting]);
      const before = await snapshots.snapshotBytes({});
      const report = await snapshots.sweepSnapshots({ scope: {}, max_bytes: before - 1_500 });
      expect(report).toMatchObject({ forgotten: 2, bytes: before - (await snapshots.snapshotBytes({})) });
      expect(report.bytes).toBeGreaterThan(1_500);
      expect(await snapshots.missingObjects({}, [...on, waiting.hash])).toEqual(on.slice(0, 2));
    });

    test("a tree that nothing leads to yet keeps the one that it is a change of", async ({ storage }) => {
      const { snapshots } = storage;
      const session = await storage.createSession({});
      const old = await say(storage, session, session.thread_id, "old");
      await say(storage, session, old.point, "new");
      const content = encodeTreeChange({ base: old.snapshot, set: [unstoredEntry("other")], gone: ["a.txt"] });
      const young = { ...tree(unstoredEntry("other")), base: old.snapshot, content };
      await snapshots.putObjects({}, [young]);
      expect(await snapshots.sweepSnapshots({ scope: {}, max_bytes: 0 })).toMatchObject({ forgotten: 1 });
      expect((await snapshots.readObjects({}, [young.hash])).size).toBe(1);
    });

    test("beside others counts what it frees once, and brings back nothing that they have removed", async ({
      storage,
      second,
    }) => {
      const session = await storage.createSession({});
      const files = many(120);
      const trees = files.map((each) => tree(file("a.txt", each)));
      // All in one pack, which each sweep finds half empty after the other has.
      await storage.snapshots.putObjects({}, [...files, ...trees]);
      const { lease } = await runOn(storage, session.id);
      let last: Point | string = session.thread_id;
      for (const { hash } of trees) {
        const configurable = { [LEASE]: { ...lease, snapshot: () => hash } };
        last = await put(await storage.getCheckpointer(), last, { a: 1 }, { configurable });
      }
      const sweepers = [storage, storage, (await second?.()) ?? storage];
      const sweep = ({ snapshots }: Storage) => snapshots.sweepSnapshots({ scope: {}, ...NOW, max_bytes: 0 });
      await Promise.all(sweepers.map(sweep));
      const names = [...files, ...trees].map(({ hash }) => hash);
      expect(await storage.snapshots.missingObjects({}, names)).toHaveLength(names.length - 2);
      await storage.finishRun(lease, endOf("succeeded"));
      await storage.deleteSession(session.id);
      await storage.snapshots.sweepSnapshots({ scope: {}, ...NOW });
      expect(await storage.snapshots.snapshotBytes({})).toBe(0);
    });

    test("lets go of a deleted session's files", async ({ storage }) => {
      const { thread_id, id } = await storage.createSession({});
      await save(storage, thread_id, "mine");
      await storage.deleteSession(id);
      await storage.snapshots.sweepSnapshots({ scope: {}, ...NOW });
      expect(await storage.snapshots.snapshotBytes({})).toBe(0);
    });
  });
}

function many(count: number): NewSnapshotObject[] {
  return Array.from({ length: count }, (_, i) => blob(Buffer.concat([Buffer.from(`${i}`), randomBytes(1_000)])));
}
