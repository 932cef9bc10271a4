import { describe, expect, it } from "vitest";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { until } from "./until.ts";
import { withStorage } from "./with-storage.ts";

const HOUR_MS = 3_600_000;

export function breakerContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("circuit breakers", () => {
    test("what one opens, all see, with what is left of its time", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const scope = { org: "a", user: "ann" };
      await storage.breakers.openBreaker({ name: "openai", scope, failures: 5, open_ms: HOUR_MS });
      const [seen, ...more] = await other.breakers.listOpenBreakers();
      expect(more).toEqual([]);
      expect(seen).toEqual({ name: "openai", scope, failures: 5, open_ms: expect.any(Number) });
      expect(seen?.open_ms).toBeLessThanOrEqual(HOUR_MS);
      expect(seen?.open_ms).toBeGreaterThan(HOUR_MS / 2);
    });

    test("one name in two scopes is two; opened again it is one, with the later time", async ({
      storage: { breakers },
    }) => {
      for (const scope of [{}, { user: "ann" }]) {
        await breakers.openBreaker({ name: "x", scope, failures: 1, open_ms: HOUR_MS });
      }
      await breakers.openBreaker({ name: "x", scope: {}, failures: 2, open_ms: 3 * HOUR_MS });
      const listed = await breakers.listOpenBreakers();
      expect(listed.map(({ failures }) => failures).sort()).toEqual([1, 2]);
      expect(Math.max(...listed.map(({ open_ms }) => open_ms))).toBeGreaterThan(2 * HOUR_MS);
      await breakers.closeBreaker({ name: "x", scope: {} });
      await breakers.closeBreaker({ name: "x", scope: {} });
      expect(await breakers.listOpenBreakers()).toMatchObject([{ scope: { user: "ann" } }]);
    });

    test("none is seen after its time, and the next one that opens clears it away", async ({
      storage: { breakers },
    }) => {
      await breakers.openBreaker({ name: "short", scope: {}, failures: 1, open_ms: 1 });
      await until("it to be over", async () => (await breakers.listOpenBreakers()).length === 0 || undefined);
      await breakers.openBreaker({ name: "long", scope: {}, failures: 1, open_ms: HOUR_MS });
      expect(await breakers.listOpenBreakers()).toMatchObject([{ name: "long" }]);
    });
  });
}
