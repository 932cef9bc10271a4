import { BudgetLimit, type BudgetLimitInput } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { BudgetCount, BudgetReservation } from "../budget-store.ts";
import type { Storage } from "../storage.ts";
import { budgetPruneContract } from "./budget-prune-contract.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf } from "./started-run.ts";
import { until } from "./until.ts";
import { usageOf } from "./usage-contract.ts";
import { withStorage } from "./with-storage.ts";

const ann = { user: "ann" };
const limit = (given: BudgetLimitInput) => BudgetLimit.parse(given);
const today = () => new Date().toISOString().slice(0, 10);

/** A budget of all time, and what it counts by. */
async function open(storage: Storage, given: BudgetLimitInput, scope = ann): Promise<BudgetCount> {
  const [budget] = await storage.budgets.putBudgets(scope, [limit({ period: "total", ...given })]);
  return { budget_id: budget?.id ?? "", stretch: "" };
}

function modelCall(counts: BudgetCount[], given: Partial<BudgetReservation> = {}): BudgetReservation {
  return { run_id: "r", counts, tokens: 10, cost: 0, steps: 1, tool_calls: 0, seconds: 0, ttl_ms: 60_000, ...given };
}

const toolCall = (counts: BudgetCount[]) => modelCall(counts, { tokens: 0, steps: 0, tool_calls: 1 });

export function budgetContract(openStorage: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(openStorage, body));

  budgetPruneContract(openStorage);

  describe("limits", () => {
    test("are those of a scope, replaced as a whole, and say what is left", async ({ storage, reopen }) => {
      const { budgets } = storage;
      const set = [limit({ max_cost: 5, period: "day" }), limit({ max_tokens: 100, agent_name: "a", period: "run" })];
      const [day, run] = await budgets.putBudgets(ann, set);
      expect(day).toMatchObject({ scope: ann, max_cost: 5, used_cost: 0, remaining_cost: 5, remaining_tokens: null });
      expect(day?.resets_at).toBe(new Date(Date.parse(today()) + 86_400_000).toISOString());
      expect(run).toMatchObject({ agent_name: "a", session_id: null, remaining_tokens: 100, resets_at: null });
      await budgets.putBudgets({ user: "bob" }, [limit({ max_cost: 1 })]);
      const [raised] = await budgets.putBudgets(ann, [limit({ max_cost: 9, period: "day" })]);
      expect(raised).toMatchObject({ id: day?.id, max_cost: 9 });
      const after = reopen ? await reopen() : storage;
      expect(await after.budgets.listBudgets(ann)).toEqual([raised]);
      expect(await after.budgets.listBudgets()).toHaveLength(2);
      expect(await after.budgets.listBudgets({})).toEqual([]);
      expect((await after.budgets.listLimits([ann, {}])).map(({ id }) => id)).toEqual([day?.id]);
      expect(await after.budgets.putBudgets(ann, [])).toEqual([]);
    });

    test("tell other instances that they have changed", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const before = await other.budgets.limitVersion();
      await open(storage, { max_tokens: 1 });
      expect(await other.budgets.limitVersion()).toBe(before + 1);
    });

    test("that are new begin with what ended runs have used, of that scope and narrower ones", async ({ storage }) => {
      for (const scopes of [ann, { user: "ann", project: "p" }, { user: "bob" }]) {
        const { id: session_id } = await storage.createSession({ scopes });
        await storage.createRun({ session_id });
        const lease = await claim(storage, { session_id });
        await storage.finishRun(lease, {
          ...endOf("succeeded"),
          usage: usageOf({ m: [10, 5, 0.5], own: [1, 0, null] }),
        });
      }
      const set = (["day", "month", "total"] as const).map((period) => limit({ period, max_tokens: 100 }));
      for (const budget of await storage.budgets.putBudgets(ann, set)) {
        expect(budget).toMatchObject({ used_tokens: 32, used_cost: 1, unpriced_tokens: 2, remaining_tokens: 68 });
      }
      const [all] = await storage.budgets.putBudgets({}, [limit({ period: "month", max_tokens: 100 })]);
      expect(all).toMatchObject({ used_tokens: 48 });
    });
  });

  describe("reserve and settle", () => {
    test("what is reserved counts, and what it came to takes its place", async ({ storage }) => {
      const { budgets } = storage;
      const counts = [await open(storage, { max_tokens: 100, max_cost: 1 })];
      const answer = await budgets.reserve(modelCall(counts, { tokens: 60, cost: 0.5 }));
      if (!answer.ok) throw new Error("there was room");
      expect(await budgets.listBudgets(ann)).toMatchObject([
        { reserved_tokens: 60, remaining_tokens: 40, used_steps: 1 },
      ]);
      expect(await budgets.reserve(modelCall(counts, { tokens: 41 }))).toMatchObject({ ok: false, limit: "tokens" });
      expect(await budgets.reserve(modelCall(counts, { cost: 0.6 }))).toMatchObject({ ok: false, limit: "cost" });
      await budgets.settle({ reservation: answer.reservation, counts, tokens: 20, cost: 0.25, seconds: 2 });
      const settled = { reserved_tokens: 0, used_tokens: 20, used_cost: 0.25, used_seconds: 2, remaining_tokens: 80 };
      expect(await budgets.listBudgets(ann)).toMatchObject([settled]);
      expect(await budgets.reserve(modelCall(counts, { tokens: 80 }))).toMatchObject({ ok: true });
    });

    test("each limit is told by its name", async ({ storage }) => {
      const { budgets } = storage;
      const steps = [await open(storage, { max_steps: 1 }, { user: "a" })];
      expect(await budgets.reserve(modelCall(steps))).toMatchObject({ ok: true });
      expect(await budgets.reserve(modelCall(steps))).toMatchObject({ ok: false, limit: "steps" });
      expect(await budgets.reserve(toolCall(steps))).toMatchObject({ ok: true });
      const tools = [await open(storage, { max_tool_calls: 1 }, { user: "b" })];
      expect(await budgets.reserve(toolCall(tools))).toMatchObject({ ok: true });
      expect(await budgets.reserve(toolCall(tools))).toMatchObject({ ok: false, limit: "tool_calls" });
      expect(await budgets.reserve(modelCall(tools))).toMatchObject({ ok: true });
      const time = [await open(storage, { max_seconds: 10 }, { user: "c" })];
      expect(await budgets.secondsLeft(time)).toBe(10);
      await budgets.reserve(modelCall(time, { seconds: 4 }));
      expect(await budgets.secondsLeft([...time, ...tools])).toBe(6);
      expect(await budgets.reserve(modelCall(time, { seconds: 6 }))).toMatchObject({ ok: false, limit: "seconds" });
      expect(await budgets.secondsLeft(tools)).toBeNull();
    });

    test("all of several budgets or none", async ({ storage }) => {
      const { budgets } = storage;
      const wide = await open(storage, { max_tokens: 1_000 }, {} as typeof ann);
      const narrow = await open(storage, { max_tokens: 5 });
      expect(await budgets.reserve(modelCall([wide, narrow]))).toMatchObject({ ok: false, budget: { scope: ann } });
      expect(await budgets.listBudgets({})).toMatchObject([{ reserved_tokens: 0, used_steps: 0 }]);
    });

    test("a raised limit counts at once, from what was used", async ({ storage }) => {
      const counts = [await open(storage, { max_tokens: 5 })];
      expect(await storage.budgets.reserve(modelCall(counts))).toMatchObject({ ok: false });
      await open(storage, { max_tokens: 10 });
      expect(await storage.budgets.reserve(modelCall(counts))).toMatchObject({ ok: true });
    });

    test("a removed budget stands in nobody's way", async ({ storage }) => {
      const counts = [await open(storage, { max_tokens: 5 })];
      await storage.budgets.putBudgets(ann, []);
      const answer = await storage.budgets.reserve(modelCall(counts));
      expect(answer).toMatchObject({ ok: true });
      const reservation = answer.ok ? answer.reservation : null;
      await storage.budgets.settle({ reservation, counts, tokens: 1, cost: null, seconds: 0 });
    });

    test("of many callers on two instances only as many as there is room for", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const counts = [await open(storage, { max_tokens: 70 })];
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 ? storage : other).budgets.reserve(modelCall(counts))),
      );
      const taken = answers.filter(({ ok }) => ok);
      expect(taken).toHaveLength(7);
      await Promise.all(
        taken.map((answer, n) => {
          const reservation = answer.ok ? answer.reservation : null;
          return (n % 2 ? storage : other).budgets.settle({ reservation, counts, tokens: 3, cost: 0.1, seconds: 1 });
        }),
      );
      const [budget] = await storage.budgets.listBudgets(ann);
      expect(budget).toMatchObject({ used_tokens: 21, reserved_tokens: 0, used_steps: 7, used_seconds: 7 });
      expect(budget?.used_cost).toBeCloseTo(0.7);
    });

    test("what is settled again because no answer came is counted once, whether or not it was done", async ({
      storage,
    }) => {
      const { budgets } = storage;
      const counts = [await open(storage, { max_tokens: 100 })];
      for (const wasDone of [true, false]) {
        const answer = await budgets.reserve(modelCall(counts));
        const reservation = answer.ok ? answer.reservation : null;
        const spend = { reservation, counts, tokens: 4, cost: 0.5, seconds: 0 };
        if (wasDone) await budgets.settle(spend);
        await budgets.settle({ ...spend, again: true });
      }
      expect(await budgets.listBudgets(ann)).toMatchObject([{ reserved_tokens: 0, used_tokens: 8, used_cost: 1 }]);
    });

    test("what is reserved again because no answer came is reserved once, whether it was done or is being done", async ({
      storage,
      second,
    }) => {
      const other = (second ? await second() : storage).budgets;
      const wide = await open(storage, { max_tokens: 1_000 }, {} as typeof ann);
      const counts = [wide, await open(storage, { max_tokens: 15, max_steps: 1 })];
      const once = modelCall(counts, { id: "once", seconds: 2 });
      const answers = await Promise.all([storage.budgets.reserve(once), other.reserve(once)]);
      answers.push(await other.reserve(once));
      expect(answers).toEqual(Array(3).fill({ ok: true, reservation: "once" }));
      const reserved = { reserved_tokens: 10, used_steps: 1, used_seconds: 2 };
      expect(await other.listBudgets()).toMatchObject([reserved, reserved]);
      await other.settle({ reservation: "once", counts, tokens: 4, cost: 0, seconds: 0 });
      const settled = { reserved_tokens: 0, used_tokens: 4 };
      expect(await other.listBudgets()).toMatchObject([settled, settled]);
    });

    test("what a dead node had reserved is given back after its time, once", async ({ storage }) => {
      const { budgets } = storage;
      const counts = [await open(storage, { max_tokens: 10 })];
      const dead = await budgets.reserve(modelCall(counts, { ttl_ms: 1 }));
      const answer = await until("the reservation to run out", async () => {
        const next = await budgets.reserve(modelCall(counts));
        return next.ok ? next : undefined;
      });
      expect(await budgets.listBudgets(ann)).toMatchObject([{ reserved_tokens: 10 }]);
      const reservation = dead.ok ? dead.reservation : null;
      await budgets.settle({ reservation, counts, tokens: 4, cost: null, seconds: 0 });
      const late = { reserved_tokens: 10, used_tokens: 4, unpriced_tokens: 4 };
      expect(await budgets.listBudgets(ann)).toMatchObject([late]);
      expect(answer.ok).toBe(true);
    });

    test("what a dead node had reserved is not shown after its time, though nobody has asked for it", async ({
      storage,
    }) => {
      const { budgets } = storage;
      const counts = [await open(storage, { max_tokens: 100, max_cost: 1 })];
      await budgets.reserve(modelCall(counts, { tokens: 60, cost: 0.5, ttl_ms: 1 }));
      await budgets.reserve(modelCall(counts, { tokens: 5, cost: 0.25 }));
      const left = { reserved_tokens: 5, remaining_tokens: 95, reserved_cost: 0.25, remaining_cost: 0.75 };
      await until("the reservation to run out", async () => {
        const [budget] = await budgets.listBudgets(ann);
        return budget?.reserved_tokens === 65 ? undefined : (expect(budget).toMatchObject(left) ?? true);
      });
    });

    test("what a run that is begun again had reserved is given back at once, to each budget, once", async ({
      storage,
      second,
    }) => {
      const { budgets } = storage;
      const other = (second ? await second() : storage).budgets;
      const wide = await open(storage, { max_tokens: 100 }, {} as typeof ann);
      const counts = [wide, await open(storage, { max_tokens: 10 })];
      const dead = await budgets.reserve(modelCall(counts, { run_id: "mine" }));
      await budgets.reserve(modelCall([wide], { run_id: "another" }));
      expect(await other.reserve(modelCall(counts, { run_id: "mine" }))).toMatchObject({ ok: false, limit: "tokens" });
      await Promise.all([other.giveBack("mine"), budgets.giveBack("mine")]);
      expect(await budgets.listBudgets({})).toMatchObject([{ reserved_tokens: 10 }]);
      expect(await other.reserve(modelCall(counts, { run_id: "mine" }))).toMatchObject({ ok: true });
      // It was not dead, only slow: what it took is counted, and nothing is given back for it.
      const reservation = dead.ok ? dead.reservation : null;
      await budgets.settle({ reservation, counts, tokens: 4, cost: null, seconds: 0 });
      expect(await budgets.listBudgets(ann)).toMatchObject([{ reserved_tokens: 10, used_tokens: 4 }]);
    });
  });
}
