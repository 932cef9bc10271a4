import { describe, expect, it } from "vitest";
import type { IdempotencyStore } from "../idempotency-store.ts";
import { ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { until } from "./until.ts";
import { withStorage } from "./with-storage.ts";

type Claim = { key: string; body_hash: string; ttl_ms: number };

/** As long as the claim would have lasted: told by another one that began later. */
async function claimAndRunOut(storage: IdempotencyStore, claim: Claim): Promise<void> {
  await storage.claimIdempotencyKey({ ...claim, key: "later" });
  await storage.saveIdempotentResponse({ key: "later", response: "r" });
  await until("the other to run out", async () => (await storage.pruneIdempotencyKeys()) || undefined);
}

export function idempotencyContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("idempotency keys", () => {
    test("new, pending, then done with the response", async ({ storage, reopen }) => {
      const claim = { key: "k", body_hash: "h" };
      expect(await storage.claimIdempotencyKey(claim)).toMatchObject({ state: "new" });
      expect(await storage.claimIdempotencyKey(claim)).toEqual({ state: "pending" });
      const response = { status: 201, body: { texts: [...ODD_TEXTS, "nul \u0000"] } };
      await storage.saveIdempotentResponse({ key: "k", response });
      const after = reopen ? await reopen() : storage;
      expect(await after.claimIdempotencyKey(claim)).toEqual({ state: "done", response });
    });

    test("an empty response is an answer too", async ({ storage }) => {
      const claim = { key: "k", body_hash: "h" };
      await storage.claimIdempotencyKey(claim);
      await storage.saveIdempotentResponse({ key: "k", response: null });
      expect(await storage.claimIdempotencyKey(claim)).toEqual({ state: "done", response: null });
    });

    test("is new to one of many", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const claim = (n: number) => (n % 2 ? storage : other).claimIdempotencyKey({ key: "k", body_hash: "h" });
      const states = (await Promise.all(Array.from({ length: 10 }, (_, n) => claim(n)))).map(({ state }) => state);
      expect(states.sort()).toEqual(["new", ...Array(9).fill("pending")].sort());
    });

    test("another body is refused, whether the first is done or not", async ({ storage }) => {
      await storage.claimIdempotencyKey({ key: "k", body_hash: "h" });
      const other = { key: "k", body_hash: "other" };
      await expect(storage.claimIdempotencyKey(other)).rejects.toMatchObject({ code: "idempotency_mismatch" });
      await storage.saveIdempotentResponse({ key: "k", response: 1 });
      await expect(storage.claimIdempotencyKey(other)).rejects.toMatchObject({ code: "idempotency_mismatch" });
      expect(await storage.claimIdempotencyKey({ key: "k", body_hash: "h" })).toEqual({ state: "done", response: 1 });
    });

    test("the same key of two scopes is two keys", async ({ storage }) => {
      const [ann, bob] = [{ user: "ann" }, { user: "bob" }];
      await storage.claimIdempotencyKey({ scope: ann, key: "k", body_hash: "a" });
      expect(await storage.claimIdempotencyKey({ scope: bob, key: "k", body_hash: "b" })).toMatchObject({
        state: "new",
      });
      await storage.saveIdempotentResponse({ scope: ann, key: "k", response: "ann's" });
      expect(await storage.claimIdempotencyKey({ scope: bob, key: "k", body_hash: "b" })).toEqual({ state: "pending" });
      await storage.releaseIdempotencyKey({ scope: bob, key: "k" });
      expect(await storage.claimIdempotencyKey({ key: "k", body_hash: "c" })).toMatchObject({ state: "new" });
    });

    test("a release frees what is pending, never what is done", async ({ storage }) => {
      const claim = { key: "k", body_hash: "h" };
      await storage.claimIdempotencyKey(claim);
      await storage.releaseIdempotencyKey({ key: "k" });
      expect(await storage.claimIdempotencyKey(claim)).toMatchObject({ state: "new" });
      await storage.saveIdempotentResponse({ key: "k", response: "r" });
      await storage.releaseIdempotencyKey({ key: "k" });
      expect(await storage.claimIdempotencyKey(claim)).toEqual({ state: "done", response: "r" });
    });

    test("past its time a key is new again, with another body too, and pruning forgets it", async ({ storage }) => {
      await storage.claimIdempotencyKey({ key: "short", body_hash: "h", ttl_ms: 1 });
      await storage.claimIdempotencyKey({ key: "short too", body_hash: "h", ttl_ms: 1 });
      await storage.saveIdempotentResponse({ key: "short too", response: "r" });
      await storage.claimIdempotencyKey({ key: "long", body_hash: "h" });
      const state = await until("the key to run out", () =>
        storage.claimIdempotencyKey({ key: "short", body_hash: "other" }).catch(() => undefined),
      );
      expect(state).toMatchObject({ state: "new" });
      expect(
        await until("the other to be pruned", async () => (await storage.pruneIdempotencyKeys()) || undefined),
      ).toBe(1);
      expect(await storage.pruneIdempotencyKeys()).toBe(0);
      expect(await storage.claimIdempotencyKey({ key: "long", body_hash: "h" })).toEqual({ state: "pending" });
    });

    test("nobody waits until the last of many that are past their time has gone", async ({ storage }) => {
      const keys = Array.from({ length: 1_500 }, (_, n) => `${n}`);
      await Promise.all(keys.map((key) => storage.claimIdempotencyKey({ key, body_hash: "h" })));
      await Promise.all(keys.map((key) => storage.saveIdempotentResponse({ key, response: "r", ttl_ms: 0 })));
      const order: string[] = [];
      const pruned = storage.pruneIdempotencyKeys().then((count) => order.push(`pruned ${count}`));
      await storage.claimIdempotencyKey({ key: "other", body_hash: "h" }).then(() => order.push("claimed"));
      await pruned;
      expect(order).toEqual(["claimed", "pruned 1500"]);
    });

    test("an answer may be kept longer than its request was allowed to take", async ({ storage }) => {
      const claim = { key: "k", body_hash: "h", ttl_ms: 300 };
      await storage.claimIdempotencyKey(claim);
      await storage.saveIdempotentResponse({ key: "k", response: "r", ttl_ms: 60_000 });
      await claimAndRunOut(storage, claim);
      expect(await storage.claimIdempotencyKey(claim)).toEqual({ state: "done", response: "r" });
    });

    test("a renewal keeps what is pending from others, and leaves what is done alone", async ({ storage }) => {
      const claim = { key: "k", body_hash: "h", ttl_ms: 300 };
      await storage.claimIdempotencyKey(claim);
      await storage.renewIdempotencyKey({ key: "k", ttl_ms: 60_000 });
      await claimAndRunOut(storage, claim);
      expect(await storage.claimIdempotencyKey(claim)).toEqual({ state: "pending" });
      await storage.saveIdempotentResponse({ key: "k", response: "r", ttl_ms: 60_000 });
      await storage.renewIdempotencyKey({ key: "k", ttl_ms: 0 });
      expect(await storage.claimIdempotencyKey(claim)).toEqual({ state: "done", response: "r" });
    });

    test("one that ran out without an answer still tells since when, to the same request only", async ({ storage }) => {
      const claim = { key: "k", body_hash: "h", ttl_ms: 1 };
      const again = (body_hash: string) =>
        until("the claim to run out", async () => {
          const state = await storage.claimIdempotencyKey({ ...claim, body_hash }).catch(() => undefined);
          return state?.state === "new" ? state : undefined;
        });
      const first = await again("h");
      expect(Date.parse(first.since)).not.toBeNaN();
      await until("the clock to go on", async () => new Date().toISOString() > first.since || undefined);
      expect(await storage.pruneIdempotencyKeys()).toBe(0);
      expect(await again("h")).toEqual(first);
      const other = await again("other");
      expect(other.since > first.since).toBe(true);
      await until("the clock to go on", async () => new Date().toISOString() > other.since || undefined);
      await storage.saveIdempotentResponse({ key: "k", response: "r" });
      expect((await again("other")).since > other.since).toBe(true);
    });

    test("takes any text as a key up to its limit", async ({ storage }) => {
      for (const key of [...ODD_TEXTS.filter((text) => text !== ""), "k".repeat(255)]) {
        expect(await storage.claimIdempotencyKey({ key, body_hash: "h" })).toMatchObject({ state: "new" });
        expect(await storage.claimIdempotencyKey({ key, body_hash: "h" })).toEqual({ state: "pending" });
      }
      for (const key of ["", "k".repeat(256), "nul \u0000"]) {
        const claim = storage.claimIdempotencyKey({ key, body_hash: "h" });
        await expect(claim).rejects.toMatchObject({ code: "validation_failed" });
      }
    });
  });
}
