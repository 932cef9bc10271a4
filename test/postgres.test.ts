import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { createDatabase } from "../testing/database.ts";
import { startPostgres } from "../testing/postgres.ts";
import { RecycledDatabases } from "../testing/recycled-databases.ts";

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test("each database is fresh, and is gone once dropped", async () => {
  const first = await createDatabase(inject("postgresUrl"));
  const second = await createDatabase(inject("postgresUrl"));
  await query(first.url, "create table note (body text)");
  await query(second.url, "create table note (body text)");
  for (const database of [first, second]) {
    await database.drop();
    await database.drop();
    await expect(query(database.url, "select 1")).rejects.toThrow("does not exist");
  }
});

test("a database that was given back is handed out again, empty", async () => {
  const recycled = new RecycledDatabases(async () => {
    const made = await createDatabase(inject("postgresUrl"));
    await query(made.url, "create table parent (id int primary key generated always as identity)");
    await query(made.url, "create table child (id int references parent (id))");
    return made;
  });
  const first = await recycled.take();
  onTestFinished(() => recycled.close());
  const [parent] = await query(first.url, "insert into parent default values returning id");
  await query(first.url, "insert into child values (1)");
  await first.drop();
  const [second, third] = [await recycled.take(), await recycled.take()];
  expect([second.name === first.name, third.name === first.name]).toEqual([true, false]);
  expect(await query(second.url, "select id from child")).toEqual([]);
  expect(await query(second.url, "insert into parent default values returning id")).toEqual([parent]);
});

test("queries in a database that was given back are planned as in a new one", async () => {
  const recycled = new RecycledDatabases(async () => {
    const made = await createDatabase(inject("postgresUrl"));
    await query(made.url, "create table line (thread int, n int, parent int, primary key (thread, n))");
    return made;
  });
  const { url, drop } = await recycled.take();
  onTestFinished(() => recycled.close());
  const planned = "explain (costs off) select * from line where thread = 1 and parent = 2";
  const statistics = "select 1 from pg_stats where tablename = 'line'";
  const asNew = await query(url, planned);
  await query(url, "insert into line select n, 1, n from generate_series(1, 2000) n");
  await query(url, "analyze line");
  expect(await query(url, planned)).not.toEqual(asNew);
  expect(await query(url, statistics)).not.toEqual([]);
  await drop();
  const again = await recycled.take();
  expect(await query(again.url, planned)).toEqual(asNew);
  expect(await query(again.url, statistics)).toEqual([]);
});

test("a database that somebody still uses is not handed out again, and the test that left it so fails", async () => {
  const recycled = new RecycledDatabases(() => createDatabase(inject("postgresUrl")), 200);
  const first = await recycled.take();
  onTestFinished(() => recycled.close());
  const left = new Client({ connectionString: first.url, application_name: "forgotten" });
  await left.connect();
  await expect(first.drop()).rejects.toThrow("forgotten");
  expect((await recycled.take()).name).not.toBe(first.name);
  await left.end();
});

test("a durable server that is killed keeps what it had committed", { timeout: 180_000 }, async () => {
  const server = await startPostgres({ durable: true });
  onTestFinished(server.stop);
  await query(server.url, "create table note (body text)");
  await query(server.url, "insert into note values ('kept')");
  await server.kill();
  await expect(query(server.url, "select 1")).rejects.toThrow("ECONNREFUSED");
  await server.restart();
  expect(await query(server.url, "select body from note")).toEqual([{ body: "kept" }]);
});
