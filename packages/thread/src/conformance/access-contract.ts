import { describe, expect, it } from "vitest";
import type { NewApiKey } from "../api-key-store.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { until } from "./until.ts";
import { withStorage } from "./with-storage.ts";

function aKey(prefix: string, more: Partial<NewApiKey> = {}): NewApiKey {
  return { prefix, hash: `hash of ${prefix}`, name: "ci", scope: null, admin: false, expires_at: null, ...more };
}

export function accessContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("API keys", () => {
    test("come back as they went in, the hash only to who finds the key by its prefix", async ({ storage, reopen }) => {
      const expires_at = "2040-01-01T00:00:00.000Z";
      const given = aKey("cog_a", { scope: { user: "ann", project: "x" }, admin: true, expires_at });
      const created = await storage.apiKeys.createApiKey(given);
      const { hash, ...shown } = given;
      expect(created).toEqual({
        ...shown,
        id: expect.any(String),
        created_at: expect.any(String),
        last_used_at: null,
        revoked_at: null,
      });
      const { apiKeys } = reopen ? await reopen() : storage;
      expect(await apiKeys.findApiKey("cog_a")).toEqual({ api_key: created, hash });
      expect(await apiKeys.listApiKeys()).toEqual([created]);
      expect(await apiKeys.findApiKey("cog_b")).toBeUndefined();
    });

    test("a key bound to no scope and one bound to the empty scope are two things", async ({
      storage: { apiKeys },
    }) => {
      expect(await apiKeys.createApiKey(aKey("any"))).toMatchObject({ scope: null });
      expect(await apiKeys.createApiKey(aKey("empty", { scope: {} }))).toMatchObject({ scope: {} });
    });

    test("are listed newest first, in pages", async ({ storage: { apiKeys } }) => {
      for (const prefix of ["one", "two", "three"]) await apiKeys.createApiKey(aKey(prefix));
      const prefixes = async (page?: { limit: number; offset: number }) =>
        (await apiKeys.listApiKeys(page)).map(({ prefix }) => prefix);
      expect(await prefixes()).toEqual(["three", "two", "one"]);
      expect(await prefixes({ limit: 1, offset: 1 })).toEqual(["two"]);
    });

    test("one prefix is one key, whoever races", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const both = await Promise.allSettled([storage, other].map(({ apiKeys }) => apiKeys.createApiKey(aKey("same"))));
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(both.find((one) => one.status === "rejected")?.reason).toMatchObject({ code: "already_exists" });
    });

    test("one that lacks what it must have is the caller's fault: the storage is there, and asking again would not help", async ({
      storage: { apiKeys },
    }) => {
      const { name, ...nameless } = aKey("a");
      await expect(apiKeys.createApiKey(nameless as NewApiKey)).rejects.toMatchObject({ code: "validation_failed" });
      expect(await apiKeys.listApiKeys()).toEqual([]);
    });

    test("are revoked for good, by id or prefix, and again without harm", async ({ storage: { apiKeys } }) => {
      const { id } = await apiKeys.createApiKey(aKey("a"));
      await apiKeys.createApiKey(aKey("b"));
      const revoked = await apiKeys.revokeApiKey(id);
      expect(revoked.revoked_at).toEqual(expect.any(String));
      expect(await apiKeys.revokeApiKey("a")).toEqual(revoked);
      expect(await apiKeys.findApiKey("a")).toMatchObject({ api_key: revoked });
      expect(await apiKeys.findApiKey("b")).toMatchObject({ api_key: { revoked_at: null } });
      await expect(apiKeys.revokeApiKey("c")).rejects.toMatchObject({ code: "api_key_not_found" });
    });

    test("say when they were used last", async ({ storage: { apiKeys } }) => {
      const { id } = await apiKeys.createApiKey(aKey("a"));
      await apiKeys.touchApiKey(id);
      await apiKeys.touchApiKey("gone");
      expect(await apiKeys.listApiKeys()).toMatchObject([{ id, last_used_at: expect.any(String) }]);
    });
  });

  describe("rate limits", () => {
    const slow = { per_second: 0.01, burst: 3 };

    test("a bucket holds its burst and no more, whoever asks at once", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const ask = (n: number) => (n % 2 ? storage : other).rateLimits.takeRequest({ user: "ann" }, slow);
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => ask(n)));
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(3);
    });

    test("a refused request is told when, and takes nothing", async ({ storage: { rateLimits } }) => {
      for (let n = 0; n < 3; n++) expect(await rateLimits.takeRequest({}, slow)).toEqual({ allowed: true });
      for (let n = 0; n < 3; n++) {
        const refused = await rateLimits.takeRequest({}, slow);
        expect(refused).toEqual({ allowed: false, retry_after_ms: expect.any(Number) });
        const wait = refused.allowed ? 0 : refused.retry_after_ms;
        expect(wait).toBeGreaterThan(80_000);
        expect(wait).toBeLessThanOrEqual(100_000);
      }
    });

    test("each scope has its own, and so has no scope", async ({ storage: { rateLimits } }) => {
      const one = { per_second: 0.01, burst: 1 };
      for (const scope of [undefined, {}, { user: "ann" }, { user: "bob" }]) {
        expect(await rateLimits.takeRequest(scope, one)).toEqual({ allowed: true });
        expect(await rateLimits.takeRequest(scope, one)).toMatchObject({ allowed: false });
      }
    });

    test("one that is emptier than it can be, since the clock was put back, is full", async ({
      storage: { rateLimits },
    }) => {
      // As it is left by a clock that was three hours ahead.
      await rateLimits.takeRequest({}, { per_second: 1 / 10_800, burst: 1 });
      expect(await rateLimits.takeRequest({}, slow)).toEqual({ allowed: true });
      for (let n = 1; n < 3; n++) expect(await rateLimits.takeRequest({}, slow)).toEqual({ allowed: true });
      expect(await rateLimits.takeRequest({}, slow)).toMatchObject({ allowed: false });
    });

    test("fills again at its rate, and a full one is forgotten", async ({ storage: { rateLimits } }) => {
      const quick = { per_second: 100, burst: 1 };
      await rateLimits.takeRequest({ user: "slow" }, slow);
      await rateLimits.takeRequest({}, quick);
      const again = () => rateLimits.takeRequest({}, quick);
      await until("the bucket to fill", async () => (await again()).allowed || undefined);
      const pruned = () => rateLimits.pruneRateLimits();
      expect(await until("the full one to go", async () => (await pruned()) || undefined)).toBe(1);
    });
  });

  describe("what an operator looks at", () => {
    test("how many runs wait for a node, and how many callbacks are due", async ({ storage }) => {
      expect([await storage.countQueuedRuns(), await storage.countDeliveries({ status: "pending" })]).toEqual([0, 0]);
      for (const user of ["ann", "bob"]) {
        const { id: session_id } = await storage.createSession({ scopes: { user } });
        for (let n = 0; n < 2; n++) await storage.createRun({ session_id });
      }
      expect(await storage.countQueuedRuns()).toBe(4);
      const claimed = await storage.claimRun({ owner: "node", lease_ms: 60_000 });
      expect(await storage.countQueuedRuns()).toBe(3);
      if (!claimed) throw new Error("nothing to claim");
      const { run_id, epoch } = claimed;
      await storage.finishRun(
        { run_id, epoch },
        {
          status: "failed",
          events: [{ event: "done", data: { status: "failed" }, ordinal: claimed.next_ordinal }],
          delivery: { url: "https://example.com/", payload: {} },
        },
      );
      expect([await storage.countQueuedRuns(), await storage.countDeliveries({ status: "pending" })]).toEqual([3, 1]);
      const [due] = await storage.claimDeliveries({ limit: 1, lease_ms: 1_000 });
      await storage.recordAttempt(due?.id ?? "", { status_code: 200, error: null, ok: true });
      expect(await storage.countDeliveries({ status: "pending" })).toBe(0);
    });
  });
}
