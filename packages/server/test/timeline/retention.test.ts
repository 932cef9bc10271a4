import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, describe, expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { finishRunWithDelivery } from "../../../thread/src/conformance/finished-run.ts";
import { defaultConfig } from "../../src/config.ts";
import { createRetention, type Retention } from "../../src/timeline/retention.ts";
import { make, startTalk, type Talk } from "./talk.ts";

const DEADLINE = { timeout: 50_000 };
const DAY_MS = 24 * 3600 * 1000;
/** A ttl of an item is in minutes. */
const MS = 1 / 60_000;

type Settings = Parameters<typeof createRetention>[0]["settings"];

const started: Retention[] = [];
afterEach(() => Promise.all(started.splice(0).map((retention) => retention.stop())));

async function retain(storage: Storage, settings: Partial<Settings> = {}, now = Date.now()) {
  const errors: unknown[] = [];
  const retention = createRetention({
    storage,
    saver: await storage.getCheckpointer(),
    settings: { ...defaultConfig().retention, ...settings },
    clock: { now: () => now },
    onError: (error) => errors.push(error),
  });
  started.push(retention);
  return { ...retention, errors };
}

const idsOf = async (talk: Talk) => (await talk.checkpoints()).map(({ id }) => id);

describe("a sweep", () => {
  it("by default removes only what nobody can reach: expired keys and items of every scope, full rate limits", async () => {
    const talk = await startTalk();
    const { storage } = talk.on;
    await talk.say("Hello");
    const before = [await idsOf(talk), await storage.lastEventId(talk.session.id)];
    await storage.claimIdempotencyKey({ key: "k", body_hash: "h", ttl_ms: 1 });
    await storage.saveIdempotentResponse({ key: "k", response: "r" });
    await storage.claimIdempotencyKey({ key: "without an answer", body_hash: "h", ttl_ms: 1 });
    await storage.claimIdempotencyKey({ key: "stays", body_hash: "h" });
    await storage.rateLimits.takeRequest({ user: "ann" }, { per_second: 1_000, burst: 1 });
    const stores = await Promise.all([storage.getStore({ user: "ann" }), storage.getStore({ user: "bob" })]);
    for (const store of stores) {
      await store.put(["n"], "short", { a: 1 }, undefined, { ttl: MS });
      await store.put(["n"], "ever", { a: 1 });
    }
    await expect.poll(async () => (await storage.expiredStores()).length, DEADLINE).toBe(2);
    const { sweep, errors } = await retain(storage);
    expect(await sweep()).toEqual({
      idempotency_keys: 1,
      rate_limits: 1,
      budget_usage: 0,
      items: 2,
      threads: 0,
      checkpoints: 0,
      events: 0,
      deliveries: 0,
      snapshot_objects: 0,
    });
    expect(errors).toEqual([]);
    for (const store of stores) expect(await store.search(["n"])).toHaveLength(1);
    expect([await idsOf(talk), await storage.lastEventId(talk.session.id)]).toEqual(before);
  });

  it("keeps the newest checkpoints, where a fork began and the ends of undone branches", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const forkedAt = (await idsOf(talk))[0] as string;
    const { body: fork } = await talk.post<{ id: string }>("/fork", { checkpoint_id: forkedAt });
    await talk.say(make("b.txt", "two"));
    const { previous_head } = await talk.rewind({ last: "turn" });
    await talk.say(make("c.txt", "three"));
    const newest = (await idsOf(talk)).slice(0, 3);
    const { checkpoints } = await (await retain(talk.on.storage, { checkpoints_keep_last: 3 })).sweep();
    expect(checkpoints).toBeGreaterThan(3);
    const left = await idsOf(talk);
    expect(left).toEqual(expect.arrayContaining([...newest, forkedAt, previous_head]));
    expect((await talk.on.ask(`/sessions/${fork.id}`)).status).toBe(200);
    await talk.rewind({ checkpoint_id: previous_head });
    expect([talk.file("b.txt"), talk.file("c.txt")]).toEqual(["two", undefined]);
    await talk.say("Hello");
    expect(await talk.texts()).toEqual([make("a.txt", "one"), make("b.txt", "two"), "Hello"]);
  });

  it("keeps as many undone branches as said: the last can be redone, those before are gone", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const undone: (string | null)[] = [];
    for (const name of ["b", "c", "d"]) {
      await talk.say(make(`${name}.txt`, name));
      undone.push((await talk.rewind({ last: "turn" })).previous_head);
    }
    await talk.say("Hello");
    await (await retain(talk.on.storage, { checkpoints_keep_last: 1, redo_keep: 1 })).sweep();
    for (const id of undone.slice(0, 2)) {
      expect((await talk.post("/rewind", { checkpoint_id: id })).body).toMatchObject({ code: "checkpoint_not_found" });
    }
    await talk.rewind({ checkpoint_id: undone[2] });
    expect([talk.file("a.txt"), talk.file("b.txt"), talk.file("d.txt")]).toEqual(["one", undefined, "d"]);
    expect((await talk.post("/messages/rebuild", {})).body).toMatchObject({ repaired: 0, added: 0, removed: 0 });
    await talk.say("Hello again");
    expect(await talk.texts()).toEqual([make("a.txt", "one"), make("d.txt", "d"), "Hello again"]);
    expect(talk.on.faults).toEqual([]);
  });

  it("goes by age: what is younger stays, and the newest in any case; tokens of old runs are folded", async () => {
    const talk = await startTalk();
    const { storage, id } = { storage: talk.on.storage, id: talk.session.id };
    await talk.say(make("a.txt", "one"));
    const all = await idsOf(talk);
    const settings = { checkpoints_max_age_days: 2, events_fold_after_days: 2 };
    expect(await (await retain(storage, settings, Date.now() + DAY_MS)).sweep()).toMatchObject({ checkpoints: 0 });
    expect(await idsOf(talk)).toEqual(all);
    const swept = await (await retain(storage, settings, Date.now() + 3 * DAY_MS)).sweep();
    expect(swept).toMatchObject({ checkpoints: all.length - 1 });
    expect(swept.events).toBeGreaterThan(0);
    expect((await storage.countEvents({ session_id: id })).folded).toBe(swept.events);
    expect(await idsOf(talk)).toEqual(all.slice(0, 1));
    expect(await talk.roles()).toEqual(["user", "assistant", "tool", "assistant"]);
    await talk.say(make("b.txt", "two"));
    await talk.rewind({ last: "turn" });
    expect([talk.file("a.txt"), talk.file("b.txt")]).toEqual(["one", undefined]);
  });

  it("removes callbacks that were delivered or given up so many days ago, 30 unless it is said, and none that is owed", async () => {
    const storage = await openStorage("memory");
    const payload = { url: "https://example.com/hook", payload: {} };
    for (let n = 0; n < 3; n++) await finishRunWithDelivery(storage, payload);
    const [delivered, dead, owed] = (await storage.listDeliveries()).map(({ id }) => id) as [string, string, string];
    await storage.recordAttempt(delivered, { status_code: 200, error: null, ok: true });
    await storage.recordAttempt(dead, { status_code: 410, error: "gone", ok: false });
    const sweepAfter = async (days: number, settings: Partial<Settings> = {}) =>
      (await (await retain(storage, settings, Date.now() + days * DAY_MS)).sweep()).deliveries;
    expect([await sweepAfter(29), await sweepAfter(60, { deliveries_max_age_days: 90 })]).toEqual([0, 0]);
    expect(await sweepAfter(31)).toBe(2);
    expect((await storage.listDeliveries()).map(({ id }) => id)).toEqual([owed]);
    await storage.close();
  });

  it("removes the files that no checkpoint leads to any more, after their grace", async () => {
    const dir = createTempDir();
    const uri = join(dir.path, "state.db");
    const storage = await openStorage(uri);
    try {
      const talk = await startTalk({ storage });
      await talk.say(make("a.txt", "one"));
      await talk.on.ask(`/sessions/${talk.session.id}`, { method: "DELETE" });
      expect(await storage.snapshots.snapshotBytes({})).toBeGreaterThan(0);
      const { sweep } = await retain(storage);
      expect((await sweep()).snapshot_objects).toBe(0);
      const database = new DatabaseSync(uri);
      database.exec("update snapshot_packs set created_ms = 0");
      database.close();
      expect((await sweep()).snapshot_objects).toBeGreaterThan(0);
      expect(await storage.snapshots.snapshotBytes({})).toBe(0);
      await talk.on.server.close(0);
    } finally {
      await storage.close();
      dir.remove();
    }
  });

  it("reports a step that fails and goes on with the others", async () => {
    const storage = await openStorage("memory");
    const failed = new Error("no");
    const { sweep, errors } = await retain({ ...storage, pruneIdempotencyKeys: () => Promise.reject(failed) });
    await storage.rateLimits.takeRequest({}, { per_second: 1_000_000, burst: 1 });
    await expect.poll(async () => (await sweep()).rate_limits, DEADLINE).toBe(1);
    expect(errors).toContain(failed);
    await storage.close();
  });

  it("reports a scope whose items or files can't be swept and goes on with the others", async () => {
    const storage = await openStorage("memory");
    const [ann, bob] = [{ user: "ann" }, { user: "bob" }];
    const damaged = new Error("ann's");
    const isAnns = (scope: unknown) => JSON.stringify(scope) === JSON.stringify(ann);
    for (const scope of [ann, bob]) {
      await (await storage.getStore(scope)).put(["n"], "short", { a: 1 }, undefined, { ttl: MS });
    }
    await expect.poll(async () => (await storage.expiredStores()).length, DEADLINE).toBe(2);
    const sweptFiles: unknown[] = [];
    const { sweep, errors } = await retain({
      ...storage,
      expiredStores: async () => [ann, bob],
      getStore: async (scope) => (isAnns(scope) ? Promise.reject(damaged) : storage.getStore(scope)),
      snapshots: {
        ...storage.snapshots,
        snapshotScopes: async () => [ann, bob],
        sweepSnapshots: async ({ scope }) => {
          if (isAnns(scope)) throw damaged;
          sweptFiles.push(scope);
          return { objects: 3, bytes: 0, forgotten: 0 };
        },
      },
    });
    expect(await sweep()).toMatchObject({ items: 1, snapshot_objects: 3 });
    expect(sweptFiles).toEqual([bob]);
    expect(errors).toEqual([damaged, damaged]);
    await storage.close();
  });
});

describe("the end", () => {
  it("does not wait for all events to be folded, however many there are", async () => {
    const storage = await openStorage("memory");
    let folding = false;
    const compactEvents: Storage["compactEvents"] = (_, { signal } = {}) => {
      folding = true;
      const ended = Promise.withResolvers<{ runs: number; folded: number }>();
      signal?.addEventListener("abort", () => ended.resolve({ runs: 0, folded: 0 }));
      return ended.promise;
    };
    const retention = await retain({ ...storage, compactEvents }, { interval: 0.1, events_fold_after_days: 1 });
    retention.start();
    await expect.poll(() => folding, DEADLINE).toBe(true);
    await retention.stop();
    expect(retention.errors).toEqual([]);
    await storage.close();
  });
});

describe("many nodes", () => {
  it("sweep once in an interval, whoever comes first; none after it was stopped", async () => {
    const storage = await openStorage("memory");
    const claims: { asked: number; given: number }[] = [];
    let swept = 0;
    const counting: Storage = {
      ...storage,
      claimIdempotencyKey: async (claim) => {
        const asked = performance.now();
        const answer = await storage.claimIdempotencyKey(claim);
        if (answer.state === "new") claims.push({ asked, given: performance.now() });
        return answer;
      },
      pruneIdempotencyKeys: () => {
        swept++;
        return storage.pruneIdempotencyKeys();
      },
    };
    const interval = 0.3;
    const nodes = await Promise.all([1, 2, 3].map(() => retain(counting, { interval })));
    for (const node of nodes) node.start();
    await expect.poll(() => swept, DEADLINE).toBeGreaterThanOrEqual(4);
    await Promise.all(nodes.map((node) => node.stop()));
    expect(swept).toBeLessThanOrEqual(claims.length);
    // A claim is made at some moment between the two, and kept by the database's clock, in whole milliseconds.
    const pauses = claims.slice(1).map(({ given }, i) => given - (claims[i]?.asked ?? 0));
    for (const pause of pauses) expect(pause).toBeGreaterThan(interval * 1000 * 0.9 - 25);
    expect(nodes.flatMap(({ errors }) => errors)).toEqual([]);
    await storage.close();
  });

  it("and a server sweeps by itself", async () => {
    const storage = await openStorage("memory");
    const config = defaultConfig();
    let swept = 0;
    const pruneIdempotencyKeys = () => {
      swept++;
      return storage.pruneIdempotencyKeys();
    };
    const retention = { ...config.retention, interval: 1 };
    const talk = await startTalk({ storage: { ...storage, pruneIdempotencyKeys }, config: { ...config, retention } });
    await expect.poll(() => swept, DEADLINE).toBeGreaterThan(0);
    await talk.on.server.close(0);
    await storage.close();
  });
});
