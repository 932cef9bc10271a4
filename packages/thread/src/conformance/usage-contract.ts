import type { TokenUsage, Usage } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { Storage } from "../storage.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

type Models = Record<string, [input: number, output: number, cost: number | null]>;

/** As a run's meter gives it. */
export function usageOf(models: Models): TokenUsage {
  const by_model = Object.fromEntries(
    Object.entries(models).map(([name, [input_tokens, output_tokens, estimated_cost]]) => [
      name,
      { input_tokens, output_tokens, estimated_cost },
    ]),
  );
  const each = Object.values(by_model);
  return {
    input_tokens: each.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
    output_tokens: each.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
    estimated_cost: null,
    provider: "p",
    model: Object.keys(models).at(-1) ?? "",
    by_model,
  };
}

async function spend(storage: Storage, models: Models, { scopes = {}, agent_name = "default" } = {}): Promise<string> {
  const { id: session_id } = await storage.createSession({ scopes, agent_name });
  await storage.createRun({ session_id });
  const lease = await claim(storage, { session_id });
  await storage.finishRun(lease, { ...endOf("succeeded"), usage: usageOf(models) });
  return session_id;
}

const today = () => new Date().toISOString().slice(0, 10);
const counts = (input_tokens: number, output_tokens: number, estimated_cost: number | null, runs: number) => ({
  ...{ input_tokens, output_tokens, estimated_cost, runs },
});

export function usageContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("usage", () => {
    test("sums what ended runs used, by each group", async ({ storage }) => {
      const first = await spend(storage, { big: [10, 5, 0.5], small: [1, 1, 0.25] }, { agent_name: "a" });
      const second = await spend(storage, { small: [2, 2, 0.5] }, { scopes: { user: "ann" } });
      const by = async (group_by: Usage["group_by"]) => (await storage.usage.getUsage({ group_by })).rows;
      expect(await storage.usage.getUsage({ group_by: "day" })).toEqual({
        group_by: "day",
        rows: [{ key: today(), ...counts(13, 8, 1.25, 2) }],
        total: counts(13, 8, 1.25, 2),
      });
      expect(await by("model")).toEqual([
        { key: "big", ...counts(10, 5, 0.5, 1) },
        { key: "small", ...counts(3, 3, 0.75, 2) },
      ]);
      expect(await by("agent")).toEqual([
        { key: "a", ...counts(11, 6, 0.75, 1) },
        { key: "default", ...counts(2, 2, 0.5, 1) },
      ]);
      expect((await by("session")).map(({ key }) => key)).toEqual([first, second].sort());
      expect((await by("scope")).map(({ key, runs }) => [key, runs])).toEqual([
        ['{"user":"ann"}', 1],
        ["{}", 1],
      ]);
    });

    test("shows a scope only its own, and narrows by day, session and agent", async ({ storage }) => {
      const mine = await spend(storage, { m: [1, 0, 1] }, { scopes: { user: "ann" } });
      await spend(storage, { m: [2, 0, 2] }, { scopes: { user: "bob" }, agent_name: "b" });
      const total = async (query: object) => (await storage.usage.getUsage({ group_by: "day", ...query })).total;
      expect(await total({ scope: { user: "ann" } })).toEqual(counts(1, 0, 1, 1));
      expect(await total({ scope: {} })).toEqual(counts(0, 0, 0, 0));
      expect(await total({ session_id: mine, scope: { user: "bob" } })).toEqual(counts(0, 0, 0, 0));
      expect(await total({ session_id: mine })).toEqual(counts(1, 0, 1, 1));
      expect(await total({ agent_name: "b" })).toEqual(counts(2, 0, 2, 1));
      expect(await total({ from: today(), to: today() })).toEqual(counts(3, 0, 3, 2));
      expect(await total({ to: "2000-01-01" })).toEqual(counts(0, 0, 0, 0));
      expect(await total({ from: "9999-01-01" })).toEqual(counts(0, 0, 0, 0));
    });

    test("an unknown price makes the sum unknown, not smaller", async ({ storage }) => {
      await spend(storage, { priced: [1, 0, 1] });
      await spend(storage, { own: [5, 0, null] });
      const { rows, total } = await storage.usage.getUsage({ group_by: "model" });
      expect(rows.map(({ key, estimated_cost }) => [key, estimated_cost])).toEqual([
        ["own", null],
        ["priced", 1],
      ]);
      expect(total).toEqual(counts(6, 0, null, 2));
    });

    test("outlives the session", async ({ storage, reopen }) => {
      const session_id = await spend(storage, { m: [1, 2, 3] });
      await storage.deleteSession(session_id);
      const after = reopen ? await reopen() : storage;
      expect((await after.usage.getUsage({ group_by: "session" })).rows).toEqual([
        { key: session_id, ...counts(1, 2, 3, 1) },
      ]);
    });

    test("counts a run that was aborted while it waited for a human, with what it had used", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const lease = await claim(storage, { session_id });
      const waiting = await storage.suspendRun(lease, [], undefined, usageOf({ m: [7, 1, 0] }));
      expect(waiting.usage).toMatchObject({ input_tokens: 7 });
      expect((await storage.usage.getUsage({ group_by: "day" })).rows).toEqual([]);
      await storage.requestAbort(session_id);
      expect((await storage.usage.getUsage({ group_by: "day" })).total).toEqual(counts(7, 1, 0, 1));
    });
  });

  describe("callback_url", () => {
    test("belongs to the run, and to the one that resumes it unless another is given", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const start = async (given: object) => {
        const { run } = await storage.createRun({ session_id, ...given });
        const lease = await claim(storage, { session_id });
        await storage.finishRun(lease, endOf("failed"));
        return { id: run.id, url: lease.callback_url };
      };
      const first = await start({ callback_url: "https://a.example/" });
      const second = await start({ resumes: first.id });
      const third = await start({ resumes: second.id, callback_url: "https://b.example/" });
      const fourth = await start({ resumes: third.id, callback_url: null });
      const urls = [first, second, third, fourth, await start({})].map(({ url }) => url);
      expect(urls).toEqual(["https://a.example/", "https://a.example/", "https://b.example/", null, null]);
    });
  });
}
