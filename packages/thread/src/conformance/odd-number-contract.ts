import { BudgetLimit } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { Storage } from "../storage.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

/** No count, no limit and no length of time, though each is a number, or passes for one. */
const ODD = [-1, 1.5, 1e300, Number.NaN, Number.POSITIVE_INFINITY, null, "7"];
const spend = { counts: [], tokens: 1, cost: 0, steps: 1, tool_calls: 0, seconds: 0, ttl_ms: 1 };
const key = { key: "k", body_hash: "h" };
const failed = { ok: false, status_code: null, error: "no answer" };

const ASK: [string, (storage: Storage, odd: never, session_id: string) => Promise<unknown>][] = [
  ["limit of claimDeliveries", (storage, limit) => storage.claimDeliveries({ limit, lease_ms: 1 })],
  ["lease_ms of claimDeliveries", (storage, lease_ms) => storage.claimDeliveries({ limit: 1, lease_ms })],
  ["next_attempt_ms", (storage, odd) => storage.recordAttempt("d", { ...failed, next_attempt_ms: odd })],
  ["lease_ms of claimRun", (storage, lease_ms) => storage.claimRun({ owner: "o", lease_ms })],
  ["after of countEvents", (storage, after, session_id) => storage.countEvents({ session_id, after })],
  ["after of readEvents", (storage, after, session_id) => storage.readEvents({ session_id, after })],
  ["burst", (storage, burst) => storage.rateLimits.takeRequest({}, { per_second: 1, burst })],
  ["tokens of reserve", (storage, tokens) => storage.budgets.reserve({ ...spend, run_id: "r", tokens })],
  ["steps", (storage, steps) => storage.budgets.reserve({ ...spend, run_id: "r", steps })],
  ["tool_calls", (storage, tool_calls) => storage.budgets.reserve({ ...spend, run_id: "r", tool_calls })],
  ["tokens of settle", (storage, tokens) => storage.budgets.settle({ ...spend, reservation: null, tokens })],
  ["ttl_ms of claimIdempotencyKey", (storage, ttl_ms) => storage.claimIdempotencyKey({ ...key, ttl_ms })],
  ["ttl_ms of renewIdempotencyKey", (storage, ttl_ms) => storage.renewIdempotencyKey({ key: "k", ttl_ms })],
  ["failures", (storage, failures) => storage.breakers.openBreaker({ name: "n", scope: {}, open_ms: 1, failures })],
];

/** Fractions are good here, and what is left out is no limit. */
const AMOUNTS: [string, (storage: Storage, odd: never) => Promise<unknown>][] = [
  ["per_second", (storage, per_second) => storage.rateLimits.takeRequest({}, { per_second, burst: 1 })],
  ["seconds", (storage, seconds) => storage.budgets.settle({ ...spend, reservation: null, seconds })],
  ["cost", (storage, cost) => storage.budgets.settle({ ...spend, reservation: null, cost })],
];

export function oddNumberContract(open: OpenStorage): void {
  describe("a number that is none is refused, and named, on every engine alike", () => {
    it.each(ASK)("as %s", (name, ask) =>
      withStorage(open, async ({ storage }) => {
        const { id } = await storage.createSession({});
        const [field = ""] = name.split(" ");
        for (const odd of ODD) {
          const refused = { code: "validation_failed", message: expect.stringContaining(field) };
          await expect(ask(storage, odd as never, id), String(odd)).rejects.toMatchObject(refused);
        }
      })(),
    );

    it.each(AMOUNTS)("as %s", (field, ask) =>
      withStorage(open, async ({ storage }) => {
        for (const odd of [-1, Number.NaN, Number.POSITIVE_INFINITY, "7"]) {
          const refused = { code: "validation_failed", message: expect.stringContaining(field) };
          await expect(ask(storage, odd as never), String(odd)).rejects.toMatchObject(refused);
        }
      })(),
    );

    it("as a rate whose bucket would never be full", () =>
      withStorage(open, async ({ storage }) => {
        for (const per_second of [0, 1e-300]) {
          const refused = storage.rateLimits.takeRequest({}, { per_second, burst: 1 });
          await expect(refused).rejects.toMatchObject({ code: "validation_failed" });
        }
      })());

    it("as a budget's limit, and the limits that were stay", () =>
      withStorage(open, async ({ storage: { budgets } }) => {
        const limit = BudgetLimit.parse({ period: "run", max_tokens: 5 });
        await budgets.putBudgets({}, [limit]);
        for (const odd of [-1, 1.5, 1e300, Number.NaN, "7"]) {
          const refused = { code: "validation_failed", message: expect.stringContaining("max_tokens") };
          const put = budgets.putBudgets({}, [{ ...limit, max_tokens: odd as never }]);
          await expect(put, String(odd)).rejects.toMatchObject(refused);
        }
        expect(await budgets.listBudgets({})).toMatchObject([{ max_tokens: 5 }]);
      })());
  });
}
