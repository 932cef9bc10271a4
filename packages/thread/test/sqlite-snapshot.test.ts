import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import { openSqlite } from "../src/sql/sqlite-database.ts";

const COUNT = { sql: "select n from counter", params: [] };

it("several reads are of one moment, though another process writes between them", async () => {
  const dir = createMemoryDir();
  const path = join(dir.path, "state.db");
  const db = openSqlite({ path });
  const other = new DatabaseSync(path);
  other.exec("create table counter (n integer); insert into counter values (1)");
  const readLater = {
    sql: COUNT.sql,
    get params() {
      other.exec("update counter set n = n + 1");
      return [];
    },
  };
  const counts = async (...statements: (typeof COUNT)[]) =>
    (await db.readAll(statements)).map(({ rows }) => rows[0]?.["n"]);
  expect(await counts(COUNT, readLater)).toEqual([1, 1]);
  expect(await counts(COUNT)).toEqual([2]);
  other.close();
  await db.close();
  dir.remove();
});

it("a read that fails leaves no transaction open", async () => {
  const db = openSqlite({ path: ":memory:" });
  await expect(db.readAll([{ sql: "select 1", params: [] }, COUNT])).rejects.toMatchObject({
    code: "storage_unavailable",
  });
  await db.atomic([{ sql: "create table counter (n integer)", params: [] }]);
  expect(await db.readAll([COUNT, COUNT])).toHaveLength(2);
  await db.close();
});
