import { BudgetLimit } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { BudgetCount } from "../budget-store.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const PERIODS = ["day", "month", "total", "run", "session"] as const;
const LONG_AGO = new Date("2020-06-15T00:00:00.000Z");
const LATER = new Date("2100-01-01T00:00:00.000Z");

export function budgetPruneContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("what budgets have counted", () => {
    test("goes when no run can count against it any more, and not before", async ({ storage }) => {
      const { budgets } = storage;
      const limits = PERIODS.map((period) => BudgetLimit.parse({ period, max_steps: 1 }));
      const made = await budgets.putBudgets({}, limits);
      const idOf = (period: string) => made.find((budget) => budget.period === period)?.id ?? "";
      const { id: session_id } = await storage.createSession({});
      const { run } = await storage.createRun({ session_id });
      const stretches = { day: "2020-06-14", month: "2020-05", total: "", run: run.id, session: session_id };
      const take = async (period: keyof typeof stretches) => {
        const counts: BudgetCount[] = [{ budget_id: idOf(period), stretch: stretches[period] }];
        const call = { run_id: "r", counts, tokens: 0, cost: 0, steps: 1, tool_calls: 0, seconds: 0, ttl_ms: 60_000 };
        const { ok, ...answer } = await budgets.reserve(call);
        if ("reservation" in answer) {
          await budgets.settle({ reservation: answer.reservation, counts, tokens: 0, cost: 0, seconds: 0 });
        }
        return ok;
      };
      const takeAll = async () => {
        const taken: string[] = [];
        for (const period of PERIODS) if (await take(period)) taken.push(period);
        return taken;
      };
      expect(await takeAll()).toEqual([...PERIODS]);
      expect(await takeAll(), "every one is used up").toEqual([]);
      expect(await budgets.pruneBudgetUsage(new Date("2020-05-31T00:00:00.000Z")), "of days that were not over").toBe(
        0,
      );
      expect(await budgets.pruneBudgetUsage(LONG_AGO)).toBe(2);
      expect(await takeAll()).toEqual(["day", "month"]);

      const lease = await claim(storage);
      await storage.finishRun(lease, endOf("succeeded"));
      expect(await budgets.pruneBudgetUsage(LONG_AGO)).toBe(2);
      expect(await take("run"), "a run that has ended may be resumed").toBe(false);
      expect(await budgets.pruneBudgetUsage(LATER), "with the present day and month").toBe(3);
      expect(await take("run")).toBe(true);
      expect([await take("session"), await take("total")]).toEqual([false, false]);
      await storage.deleteSession(session_id);
      expect(await budgets.pruneBudgetUsage(LONG_AGO)).toBe(2);
      expect(await take("total")).toBe(false);
    });

    test("stays while something is reserved of it", async ({ storage: { budgets } }) => {
      const [budget] = await budgets.putBudgets({}, [BudgetLimit.parse({ period: "day", max_tokens: 10 })]);
      const counts = [{ budget_id: budget?.id ?? "", stretch: "2020-01-01" }];
      const call = { run_id: "r", counts, tokens: 10, cost: 0, steps: 1, tool_calls: 0, seconds: 0, ttl_ms: 60_000 };
      const answer = await budgets.reserve(call);
      expect(await budgets.pruneBudgetUsage(LONG_AGO)).toBe(0);
      const reservation = answer.ok ? answer.reservation : null;
      await budgets.settle({ reservation, counts, tokens: 1, cost: 0, seconds: 0 });
      expect(await budgets.pruneBudgetUsage(LONG_AGO)).toBe(1);
    });
  });
}
