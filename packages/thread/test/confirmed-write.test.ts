import { AppError } from "@cognition/contract";
import { expect, it } from "vitest";
import { all } from "../src/sql/statement.ts";
import { emptyDatabases } from "./databases.ts";

it.each(emptyDatabases)(
  "what is not confirmed is not stored, and nothing else is hindered, on $name",
  async ({ create }) => {
    const { open, remove } = await create();
    const db = open();
    const insert = (n: number) => ({ sql: `insert into t values (${n})`, params: [] });
    const refusal = new Error("not what it was");
    try {
      await db.atomic([{ sql: "create table t (n int primary key)", params: [] }]);
      let asked = 0;
      const ask = () => {
        asked++;
      };
      const refuse = () => {
        throw refusal;
      };
      const outcomes = await Promise.allSettled([
        db.atomic([insert(1)], "a", ask),
        db.atomic([insert(2), insert(3)], "b", refuse),
        db.atomic([insert(4), insert(5)], "c", ask),
        db.atomic([insert(6)], "d", refuse),
      ]);
      expect(outcomes).toMatchObject([
        { status: "fulfilled", value: [{ changes: 1 }] },
        { status: "rejected", reason: refusal },
        { status: "fulfilled", value: [{ changes: 1 }, { changes: 1 }] },
        { status: "rejected", reason: refusal },
      ]);
      expect(asked).toBeGreaterThanOrEqual(2);
      await expect(db.atomic([insert(1)], "a", ask)).rejects.toThrow();
      await db.atomic([insert(7)], "a", ask);
      const [left] = await db.readAll([{ sql: "select n from t order by n", params: [] }]);
      expect(left?.rows.map(({ n }) => n)).toEqual([1, 4, 5, 7]);
    } finally {
      await db.close();
      await remove();
    }
  },
);

it.each(emptyDatabases)("a refusal is told, not what failed after it because of it, on $name", async ({ create }) => {
  const { open, remove } = await create();
  const db = open();
  const refusal = new AppError("stale_epoch", "taken over");
  try {
    await db.atomic([{ sql: "create table t (n int primary key)", params: [] }]);
    await db.atomic([{ sql: "insert into t values (1)", params: [] }]);
    const guard = { sql: "update t set n = 2 where n = 7 returning n", params: [], requireRow: () => refusal };
    const follows = { sql: "insert into t values (1)", params: [] };
    await expect(db.transaction(() => all([guard, follows]))).rejects.toBe(refusal);
    await expect(db.transaction(() => all([follows]))).rejects.toMatchObject({ code: "already_exists" });
    const [left] = await db.readAll([{ sql: "select n from t", params: [] }]);
    expect(left?.rows).toEqual([{ n: 1 }]);
  } finally {
    await db.close();
    await remove();
  }
});
