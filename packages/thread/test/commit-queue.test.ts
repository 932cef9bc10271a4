import { expect, it, onTestFinished } from "vitest";
import { openSqlite } from "../src/sql/sqlite-database.ts";
import type { SqlValue } from "../src/sql/statement.ts";

/** Counts its commits, the one that makes the table not among them. */
async function open() {
  const counted = { commits: 0 };
  const failpoint = (point: string) => {
    if (point === "committed") counted.commits++;
  };
  const db = openSqlite({ path: ":memory:", failpoint });
  onTestFinished(() => db.close());
  await db.atomic([{ sql: "create table t (n integer primary key)", params: [] }]);
  counted.commits = 0;
  const write = (writer?: string) => db.atomic([{ sql: "insert into t default values", params: [] }], writer);
  const read = () => db.readAll([{ sql: "select count(*) from t", params: [] }]);
  /** Each with a number of its own, which none may have twice. */
  const number = (n: number) => db.atomic([{ sql: "insert into t values (?)", params: [n] }]);
  const numbers = async () => (await db.readAll([{ sql: "select n from t", params: [] }]))[0]?.rows.map(({ n }) => n);
  const run = (sql: string, ...params: SqlValue[]) => db.atomic([{ sql, params }]);
  return { counted, write, read, number, numbers, run };
}

/** How many turns of the event loop the work lets through. */
async function turnsDuring(work: (turns: () => number) => Promise<void>): Promise<number> {
  let turns = 0;
  let ended = false;
  const turn = () => {
    turns++;
    if (!ended) setImmediate(turn);
  };
  setImmediate(turn);
  await work(() => turns);
  ended = true;
  return turns;
}

it("one who writes alone, again and again, does not wait for a turn each time; others do", async () => {
  const { write } = await open();
  const times = async (writers: readonly (string | undefined)[]) =>
    turnsDuring(async () => {
      for (const writer of writers) await write(writer);
    });
  await write("a");
  expect(await times(Array.from({ length: 20 }, () => "a"))).toBeLessThan(15);
  expect(await times(Array.from({ length: 20 }, (_, n) => `w${n % 2}`))).toBeGreaterThanOrEqual(20);
  expect(await times(Array.from({ length: 20 }, () => undefined))).toBeGreaterThanOrEqual(20);
});

it("and still lets timers and requests through", async () => {
  const { write } = await open();
  const began = performance.now();
  // A tenth of a second is plenty, unless the machine is busy with other things.
  const isOver = (turns: number) => performance.now() - began > (turns > 5 ? 100 : 10_000);
  const turns = await turnsDuring(async (turnsSoFar) => {
    while (!isOver(turnsSoFar())) await write("a");
  });
  expect(turns).toBeGreaterThan(5);
});

it("a read does not wait for what is to be written; one after the other, they do let it through", async () => {
  const { write, read } = await open();
  let written = false;
  const writing = write().finally(() => {
    written = true;
  });
  await read();
  expect(written).toBe(false);
  const until = performance.now() + 5_000;
  while (!written && performance.now() < until) await read();
  expect(written).toBe(true);
  await writing;
});

it("what others bring in the same turn is in one commit with it", async () => {
  const { counted, write } = await open();
  await write("a");
  await Promise.all(["a", "b", "c", undefined].map(write));
  expect(counted.commits).toBe(2);
});

it("of much that waits, a request is answered before whoever works on", async () => {
  const { counted, write } = await open();
  const order: string[] = [];
  const told = async (name: string, writer?: string) => {
    await write(writer);
    order.push(name);
  };
  const writers = Array.from({ length: 40 }, (_, n) => told("writer", `w${n}`));
  await Promise.all([...writers, told("request")]);
  expect(order[0]).toBe("request");
  expect(counted.commits).toBe(2);
});

it("a request that comes while many are told to go on does not wait for all of them", async () => {
  const { write } = await open();
  const order: string[] = [];
  const told = async (name: string, writer?: string) => {
    await write(writer);
    order.push(name);
    if (order.length === 1) later = told("request");
  };
  let later: Promise<void> | undefined;
  await Promise.all(Array.from({ length: 60 }, (_, n) => told("writer", `w${n}`)));
  await later;
  expect(order).toHaveLength(61);
  expect(order.indexOf("request")).toBeLessThan(40);
});

it("nor do they wait for ever where requests keep coming", async () => {
  const { write } = await open();
  let goOn = true;
  let requests = 0;
  const flood = async () => {
    for (; goOn && requests < 1_000; requests++) await write();
  };
  const flooding = [flood(), flood(), flood()];
  await Promise.all(Array.from({ length: 60 }, (_, n) => write(`w${n}`)));
  goOn = false;
  await Promise.all(flooding);
  expect(requests).toBeLessThan(500);
});

it("one that fails takes only itself back, first or later, and is told why", async () => {
  const { counted, number, numbers } = await open();
  const outcomes = async (given: readonly number[]) =>
    (await Promise.allSettled(given.map(number))).map(({ status }) => status === "fulfilled");
  expect(await outcomes([1, 2, 1, 3])).toEqual([true, true, false, true]);
  expect(await outcomes([3, 4, 5])).toEqual([false, true, true]);
  await expect(number(4)).rejects.toMatchObject({
    code: "already_exists",
    cause: { message: expect.stringContaining("UNIQUE") },
  });
  expect(await outcomes([6, 7])).toEqual([true, true]);
  expect(await numbers()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(counted.commits).toBe(3);
});

it("a full disk takes back all of a commit, tells each why, and what comes after it is stored", async () => {
  const { number, numbers, run } = await open();
  await run("create table large (bytes blob)");
  await run("pragma max_page_count = 40");
  const outcomes = await Promise.allSettled([
    number(1),
    run("insert into large values (?)", new Uint8Array(1e6)),
    number(2),
  ]);
  for (const one of outcomes) {
    expect(one).toMatchObject({ status: "rejected", reason: { message: expect.stringContaining("full") } });
  }
  await number(3);
  expect(await numbers()).toEqual([3]);
});
