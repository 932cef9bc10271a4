import { describe, expect, it } from "vitest";
import type { Storage } from "../storage.ts";
import { finishRunWithDelivery } from "./finished-run.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { until } from "./until.ts";
import { withStorage } from "./with-storage.ts";

const URL = "https://example.com/hook";
const FAILED = { status_code: 500, error: "no", ok: false } as const;
const LEASE_MS = 60_000;

export function deliveryContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("the outbox", () => {
    test("has the delivery of a run's end, due at once", async ({ storage }) => {
      const ids = await finishRunWithDelivery(storage, { url: URL, payload: { status: "done" } });
      const [delivery] = await storage.listDeliveries();
      expect(delivery).toMatchObject({
        ...ids,
        url: URL,
        payload: { status: "done" },
        status: "pending",
        attempts: [],
      });
      expect(delivery).toMatchObject({ delivered_at: null, next_attempt_at: expect.stringMatching(/Z$/) });
      expect(await storage.getDelivery(delivery?.id ?? "")).toEqual(delivery);
      expect(await storage.claimDeliveries({ limit: 10, lease_ms: LEASE_MS })).toEqual([delivery]);
    });

    test("keeps odd payloads as they came", async ({ storage }) => {
      const payload = { texts: [...ODD_TEXTS, LONG_TEXT, "nul \u0000"] };
      await finishRunWithDelivery(storage, { url: URL, payload });
      expect((await storage.listDeliveries())[0]?.payload).toEqual(payload);
    });

    test("lists newest first, by page, scope, status and session", async ({ storage }) => {
      const made: string[] = [];
      for (let n = 0; n < 5; n++) {
        const { session_id } = await finishRunWithDelivery(
          storage,
          { url: URL, payload: n },
          n < 2 ? { user: "ann" } : {},
        );
        made.unshift(session_id);
      }
      const sessions = async (filter?: Parameters<Storage["listDeliveries"]>[0]) =>
        (await storage.listDeliveries(filter)).map(({ session_id }) => session_id);
      expect(await sessions()).toEqual(made);
      expect([...(await sessions({ limit: 3 })), ...(await sessions({ limit: 3, offset: 3 }))]).toEqual(made);
      expect(await sessions({ offset: 5 })).toEqual([]);
      const third = (await storage.listDeliveries())[2]?.id ?? "";
      expect(await sessions({ before: third })).toEqual(made.slice(3));
      expect(await sessions({ before: third, limit: 1 })).toEqual(made.slice(3, 4));
      expect(await sessions({ before: third, scope: {} })).toEqual([]);
      expect(await sessions({ scope: { user: "ann" } })).toEqual(made.slice(3));
      expect(await sessions({ scope: {} })).toEqual(made.slice(0, 3));
      expect(await sessions({ session_id: made[1] ?? "" })).toEqual([made[1]]);
      expect(await sessions({ status: "dead" })).toEqual([]);
      expect(await sessions({ status: "pending", scope: { user: "bob" } })).toEqual([]);
      const counted = [{}, { scope: { user: "ann" } }, { status: "dead" as const }, { session_id: made[1] ?? "" }];
      expect(await Promise.all(counted.map((filter) => storage.countDeliveries(filter)))).toEqual([5, 2, 0, 1]);
    });

    test("another scope's delivery is not there", async ({ storage }) => {
      const id = await makeDelivery(storage, { user: "ann" });
      const unknown = { code: "delivery_not_found" };
      await expect(storage.getDelivery(id, { user: "bob" })).rejects.toMatchObject(unknown);
      await expect(storage.redeliver(id, {})).rejects.toMatchObject(unknown);
      await expect(storage.getDelivery("unknown")).rejects.toMatchObject(unknown);
      await expect(storage.recordAttempt("unknown", FAILED)).rejects.toMatchObject(unknown);
      expect(await storage.getDelivery(id, { user: "ann" })).toMatchObject({ id });
    });
  });

  describe("claimDeliveries", () => {
    test("gives each to one of many callers while its lease runs", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const made: string[] = [];
      for (let n = 0; n < 12; n++) made.push(await makeDelivery(storage));
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 ? storage : other).claimDeliveries({ limit: 3, lease_ms: LEASE_MS }),
        ),
      );
      expect(Math.max(...claims.map((claim) => claim.length))).toBeLessThanOrEqual(3);
      // One that met only rows in the act of being claimed came away empty; the next poll gets what is left.
      const rest = await storage.claimDeliveries({ limit: 12, lease_ms: LEASE_MS });
      const claimed = [...claims.flat(), ...rest].map(({ id }) => id);
      expect(claimed.sort()).toEqual(made.sort());
      expect(await storage.claimDeliveries({ limit: 12, lease_ms: LEASE_MS })).toEqual([]);
    });

    test("gives it again when the lease has run out: a crashed worker loses none", async ({ storage }) => {
      const id = await makeDelivery(storage);
      expect(await storage.claimDeliveries({ limit: 1, lease_ms: 1 })).toHaveLength(1);
      const again = await until("the lease to run out", async () => {
        const claimed = await storage.claimDeliveries({ limit: 1, lease_ms: LEASE_MS });
        return claimed[0];
      });
      expect(again.id).toBe(id);
    });

    test("leaves those to the receivers that are named", async ({ storage }) => {
      const slow = "https://slow.example:8443";
      const urls = [slow, `${slow}/`, `${slow}/hook?run=1`, `${slow}?run=1`, `${slow}#x`];
      const others = [`${slow}0/hook`, `${slow}.evil.example/`, "https://slow.example/hook", URL];
      for (const url of [...urls, ...others]) await finishRunWithDelivery(storage, { url, payload: {} });
      const claim = { limit: 100, lease_ms: LEASE_MS };
      const claimed = async (except: string[]) =>
        (await storage.claimDeliveries({ ...claim, except })).map(({ url }) => url);
      expect(await claimed([slow, "https://example.com"])).toEqual(others.slice(0, -1));
      expect(await claimed([slow])).toEqual([URL]);
      expect(await claimed([])).toEqual(urls);
    });

    test("survives closing and opening", async ({ storage, reopen }) => {
      const id = await makeDelivery(storage);
      const after = reopen ? await reopen() : storage;
      expect((await after.claimDeliveries({ limit: 1, lease_ms: LEASE_MS })).map((delivery) => delivery.id)).toEqual([
        id,
      ]);
    });
  });

  describe("recordAttempt", () => {
    test("a success ends it", async ({ storage }) => {
      const id = await makeDelivery(storage);
      await storage.claimDeliveries({ limit: 1, lease_ms: 1 });
      const attempt = { status_code: 204, error: null, ok: true, duration_ms: 12 };
      const delivered = await storage.recordAttempt(id, attempt);
      expect(delivered).toMatchObject({ status: "delivered", next_attempt_at: null, delivered_at: expect.any(String) });
      expect(delivered.attempts).toEqual([
        { attempt: 1, at: delivered.delivered_at, status: 204, error: null, duration_ms: 12 },
      ]);
      expect(await storage.getDelivery(id)).toEqual(delivered);
      expect(await storage.claimDeliveries({ limit: 1, lease_ms: 1 })).toEqual([]);
    });

    test("a failure with a next time is due then and not before", async ({ storage }) => {
      const id = await makeDelivery(storage);
      await storage.claimDeliveries({ limit: 1, lease_ms: LEASE_MS });
      const later = await storage.recordAttempt(id, { ...FAILED, next_attempt_ms: LEASE_MS });
      expect(later).toMatchObject({ status: "pending", attempts: [{ attempt: 1, status: 500, error: "no" }] });
      expect(Date.parse(later.next_attempt_at ?? "") - Date.parse(later.created_at)).toBeGreaterThan(LEASE_MS / 2);
      expect(await storage.claimDeliveries({ limit: 1, lease_ms: LEASE_MS })).toEqual([]);
      // Told at once, the lease does not hold it back.
      await storage.recordAttempt(id, { ...FAILED, next_attempt_ms: 0 });
      expect(await storage.claimDeliveries({ limit: 1, lease_ms: LEASE_MS })).toMatchObject([
        { id, attempts: [{}, {}] },
      ]);
    });

    test("a failure without a next time is final, until it is asked for again", async ({ storage }) => {
      const id = await makeDelivery(storage);
      expect(await storage.recordAttempt(id, FAILED)).toMatchObject({ status: "dead", next_attempt_at: null });
      expect(await storage.claimDeliveries({ limit: 1, lease_ms: 1 })).toEqual([]);
      expect(await storage.redeliver(id)).toMatchObject({
        status: "pending",
        delivered_at: null,
        attempts: [{ attempt: 1 }],
      });
      expect(await storage.claimDeliveries({ limit: 1, lease_ms: LEASE_MS })).toMatchObject([{ id }]);
    });

    test("a late failure does not undo a success", async ({ storage }) => {
      const id = await makeDelivery(storage);
      await storage.recordAttempt(id, { status_code: 200, error: null, ok: true });
      const after = await storage.recordAttempt(id, { ...FAILED, next_attempt_ms: 0 });
      expect(after).toMatchObject({ status: "delivered", attempts: [{ status: 200 }, { status: 500 }] });
      expect(await storage.claimDeliveries({ limit: 1, lease_ms: 1 })).toEqual([]);
    });

    test("those that are done go by their age, and what is owed stays", async ({ storage }) => {
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) ids.push(await makeDelivery(storage));
      const [delivered, dead, owed, failing] = ids as [string, string, string, string];
      await storage.recordAttempt(delivered, { status_code: 200, error: null, ok: true });
      await storage.recordAttempt(dead, FAILED);
      await storage.recordAttempt(failing, { ...FAILED, next_attempt_ms: LEASE_MS });
      const { created_at } = await storage.getDelivery(delivered);
      expect(await storage.pruneDeliveries(new Date(created_at)), "as old as that, not older").toBe(0);
      const later = new Date(Date.now() + LEASE_MS);
      expect(await storage.pruneDeliveries(later)).toBe(2);
      expect((await storage.listDeliveries()).map(({ id }) => id)).toEqual([failing, owed]);
      await expect(storage.getDelivery(dead)).rejects.toMatchObject({ code: "delivery_not_found" });
      expect(await storage.pruneDeliveries(later)).toBe(0);
      await expect(storage.pruneDeliveries(new Date(Number.NaN))).rejects.toMatchObject({ code: "validation_failed" });
    });

    test("one that was delivered late is as old as its delivery", async ({ storage }) => {
      const id = await makeDelivery(storage);
      const { created_at } = await storage.getDelivery(id);
      const made = Date.parse(created_at);
      await until("a later millisecond", async () => Date.now() > made + 1 || undefined);
      await storage.recordAttempt(id, { status_code: 200, error: null, ok: true });
      expect(await storage.pruneDeliveries(new Date(made + 1))).toBe(0);
      expect(await storage.pruneDeliveries(new Date(made + LEASE_MS))).toBe(1);
    });

    test("concurrent attempts are all kept", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const id = await makeDelivery(storage);
      const record = (n: number) => (n % 2 ? storage : other).recordAttempt(id, { ...FAILED, next_attempt_ms: 0 });
      await Promise.all(Array.from({ length: 10 }, (_, n) => record(n)));
      const { attempts } = await storage.getDelivery(id);
      expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });
  });
}

async function makeDelivery(storage: Storage, scopes: Record<string, string> = {}): Promise<string> {
  const { session_id } = await finishRunWithDelivery(storage, { url: URL, payload: {} }, scopes);
  const [delivery] = await storage.listDeliveries({ session_id });
  if (!delivery) throw new Error("the run ended without its delivery");
  return delivery.id;
}
