import { describe, expect, it } from "vitest";
import { ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

export function sessionListContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("getSession and listSessions", () => {
    test("an empty storage has none", async ({ storage }) => {
      expect(await storage.listSessions()).toEqual([]);
      expect(await storage.countSessions()).toBe(0);
      expect(await storage.getSession("unknown")).toBeNull();
      expect(await storage.getSession("")).toBeNull();
    });

    test("goes on before a session, also one that is deleted, whatever came since", async ({ storage }) => {
      const made: string[] = [];
      for (let n = 0; n < 5; n++) made.unshift((await storage.createSession({})).id);
      const olderThan = async (id: string | undefined) =>
        (await storage.listSessions({ before: id ?? "", limit: 2 })).map(({ id }) => id);
      await storage.createSession({});
      expect(await olderThan(made[1])).toEqual(made.slice(2, 4));
      await storage.deleteSession(made[1] ?? "");
      expect(await olderThan(made[1])).toEqual(made.slice(2, 4));
      expect(await olderThan(made[4])).toEqual([]);
    });

    test("lists newest first and pages without overlap up to the end", async ({ storage }) => {
      const made: string[] = [];
      for (let n = 0; n < 7; n++) made.unshift((await storage.createSession({ title: `${n}` })).id);
      const page = async (limit: number, offset: number) =>
        (await storage.listSessions({ limit, offset })).map(({ id }) => id);
      expect((await storage.listSessions()).map(({ id }) => id)).toEqual(made);
      expect([...(await page(3, 0)), ...(await page(3, 3)), ...(await page(3, 6))]).toEqual(made);
      expect(await page(3, 7)).toEqual([]);
      expect(await page(0, 0)).toEqual([]);
      expect((await storage.listSessions({ offset: 5 })).map(({ id }) => id)).toEqual(made.slice(5));
      expect(await storage.countSessions()).toBe(7);
    });

    test("refuses a page that can't be", async ({ storage }) => {
      for (const page of [{ limit: -1 }, { offset: -1 }, { limit: 1.5 }, { limit: Number.NaN }]) {
        await expect(storage.listSessions(page)).rejects.toMatchObject({ code: "validation_failed" });
      }
    });

    test("a scope sees exactly itself; a filter sees every session that has its keys", async ({ storage }) => {
      const ann = await storage.createSession({ scopes: { user: "ann" } });
      const annAtP = await storage.createSession({ scopes: { project: "p", user: "ann" } });
      const none = await storage.createSession({});
      const ids = async (filter: object) => (await storage.listSessions(filter)).map(({ id }) => id);
      expect(await ids({ scope: { user: "ann" } })).toEqual([ann.id]);
      expect(await ids({ scope: { user: "ann", project: "p" } })).toEqual([annAtP.id]);
      expect(await ids({ scope: {} })).toEqual([none.id]);
      expect(await ids({ filter_scopes: { user: "ann" } })).toEqual([annAtP.id, ann.id]);
      expect(await ids({ filter_scopes: { user: "ann", project: "p" } })).toEqual([annAtP.id]);
      expect(await ids({ filter_scopes: {} })).toHaveLength(3);
      expect(await ids({ filter_scopes: { user: "an" } })).toEqual([]);
      expect(await storage.countSessions({ filter_scopes: { user: "ann" } })).toBe(2);
      expect(await storage.getSession(ann.id, { user: "ann" })).toEqual(ann);
      expect(await storage.getSession(ann.id, { user: "bob" })).toBeNull();
      expect(await storage.getSession(ann.id, { user: "ann", project: "p" })).toBeNull();
      expect(await storage.getSession(ann.id, {})).toBeNull();
    });

    test("every metadata predicate must match, exactly", async ({ storage }) => {
      const both = await storage.createSession({ metadata: { env: "prod", team: "core" } });
      await storage.createSession({ metadata: { env: "prod" } });
      await storage.createSession({ metadata: { team: "core", env: "production" } });
      const metadata_filters = { env: "prod", team: "core" };
      expect(await storage.listSessions({ metadata_filters })).toEqual([both]);
      expect(await storage.countSessions({ metadata_filters: { env: "prod" } })).toBe(2);
      expect(await storage.countSessions({ metadata_filters: { env: "" } })).toBe(0);
      expect(await storage.countSessions({ metadata_filters: { absent: "null" } })).toBe(0);
    });

    test("metadata keys and values with any character are found, and only they", async ({ storage }) => {
      const keys = ODD_TEXTS.filter((text) => text !== "").concat("a.b", "$.a", "a.b[0]", "1", "true", "constructor");
      const made = new Map<string, string>();
      for (const key of keys)
        made.set(key, (await storage.createSession({ metadata: { [key]: `value of ${key}` } })).id);
      for (const key of keys) {
        const found = await storage.listSessions({ metadata_filters: { [key]: `value of ${key}` } });
        expect(found.map(({ id }) => id)).toEqual([made.get(key)]);
        expect(await storage.countSessions({ metadata_filters: { [key]: "other" } })).toBe(0);
      }
    });

    test("filters by status, together with the rest", async ({ storage }) => {
      const { id } = await storage.createSession({ metadata: { k: "v" } });
      await storage.createSession({ metadata: { k: "v" } });
      await storage.updateSession(id, { status: "inactive" });
      const found = await storage.listSessions({ status: "inactive", metadata_filters: { k: "v" }, scope: {} });
      expect(found.map((session) => session.id)).toEqual([id]);
      expect(await storage.countSessions({ status: "active" })).toBe(1);
    });
  });
}
