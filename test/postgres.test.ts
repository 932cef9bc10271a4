import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { createDatabase } from "../testing/database.ts";
import { startPostgres } from "../testing/postgres.ts";

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
