import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { createDatabase } from "../../../testing/database.ts";
import { PostgresConnections } from "../src/sql/postgres-connections.ts";
import { openPostgres } from "../src/sql/postgres-database.ts";
import type { Tx } from "../src/sql/statement.ts";
import { startSilentProxy } from "./silent-proxy.ts";

/** What a server says that is being shut down. */
function fatal(): Buffer {
  const fields = "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
  const message = Buffer.alloc(5 + fields.length);
  message.write("E");
  message.writeInt32BE(4 + fields.length, 1);
  message.write(fields, 5);
  return message;
}

const READY = Buffer.from("Z\0\0\0\x05I", "latin1");

/** In front of the server: the first connections hear, in one breath, that they are open and that they are closed. */
function startRudeProxy(url: string, rude: number) {
  let left = rude;
  return startProxy(url, (client) => {
    const isRude = left-- > 0;
    return (chunk) => {
      const end = isRude && chunk.subarray(-READY.length).equals(READY);
      client.write(end ? Buffer.concat([chunk, fatal()]) : chunk);
      if (end) client.end();
    };
  });
}

/** As a busy server: the first connection is open at once, and hears nothing more for so long. */
function startLateProxy(url: string, ms: number) {
  let connections = 0;
  return startProxy(url, (client) => {
    const isFirst = connections++ === 0;
    let isOpen = false;
    return (chunk) => {
      if (isFirst && isOpen) setTimeout(() => client.write(chunk), ms);
      else client.write(chunk);
      isOpen ||= chunk.subarray(-READY.length).equals(READY);
    };
  });
}

async function startProxy(url: string, answering: (client: Socket) => (chunk: Buffer) => void) {
  const target = new URL(url);
  const upstream = { port: Number(target.port), host: target.hostname };
  const proxy = createServer((client) => {
    const server = connect(upstream.port, upstream.host);
    server.on("data", answering(client));
    client.on("data", (chunk) => server.write(chunk));
    for (const socket of [client, server]) {
      socket.on("error", () => undefined); // "close" follows
      socket.on("close", () => {
        client.destroy();
        server.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  target.port = String((proxy.address() as AddressInfo).port);
  return { url: target.href, close: () => new Promise((resolve) => proxy.close(resolve)) };
}

it("statements that were prepared before a newer node changed their table are prepared anew", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  const db = openPostgres({ url: database.url, poolMin: 0, poolMax: 8 });
  const change = (sql: string) => db.atomic([{ sql, params: [] }]);
  const select = { sql: "select * from notes", params: [], prepare: true };
  const add = { sql: "insert into notes (n) values ($1) returning *", params: [1], prepare: true };
  const everyWay = () =>
    Promise.all(
      Array.from({ length: 8 }, () =>
        Promise.all([
          db.readAll([select]),
          db.atomic([add, add]),
          db.transaction(function* (): Tx<unknown> {
            return yield [add, select];
          }),
        ]),
      ),
    );
  try {
    await change("create table notes (n integer)");
    await everyWay();
    await change("alter table notes add column later text");
    await everyWay();
    const [notes] = await db.readAll([select]);
    expect(notes?.rows).toHaveLength(2 * 8 * 3);
    expect(notes?.rows[0]).toEqual({ n: 1, later: null });
  } finally {
    await db.close();
    await database.drop();
  }
});

it("a database that took no writes for a while is written to again, though the connection is from that time", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  const admin = openPostgres({ url: database.url, poolMin: 0 });
  const db = openPostgres({ url: database.url, poolMin: 0 });
  const set = (value: string) => {
    const name = new URL(database.url).pathname.slice(1);
    const sql = `alter database ${name} set default_transaction_read_only = ${value}`;
    return admin.atomic([
      { sql: "set transaction read write", params: [] },
      { sql, params: [] },
    ]);
  };
  const write = [{ sql: "create table if not exists notes (n integer)", params: [] }];
  try {
    await set("on");
    await expect(db.atomic(write)).rejects.toMatchObject({ code: "storage_unavailable" });
    await expect(db.atomic([...write, ...write])).rejects.toMatchObject({ code: "storage_unavailable" });
    await set("off");
    await expect(db.atomic(write)).resolves.toHaveLength(1);
  } finally {
    await Promise.all([admin.close(), db.close()]);
    await database.drop();
  }
});

it("writers that meet wait for each other, whatever isolation the database has for its default", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  const db = openPostgres({ url: database.url, poolMin: 0 });
  const run = (sql: string) => db.atomic([{ sql, params: [] }]);
  await run(
    `alter database ${new URL(database.url).pathname.slice(1)} set default_transaction_isolation = 'repeatable read'`,
  );
  await db.close();
  const counting = openPostgres({ url: database.url, poolMin: 0 });
  try {
    await counting.atomic([{ sql: "create table counter as select 0 as n", params: [] }]);
    const count = { sql: "update counter set n = n + 1 returning n", params: [] };
    const look = { sql: "select 1 from counter", params: [] };
    const writers = Array.from({ length: 50 }, () =>
      counting.transaction(function* (): Tx<unknown> {
        yield [look];
        return yield [count];
      }),
    );
    await Promise.all(writers);
    const [found] = await counting.readAll([{ sql: "select n from counter", params: [] }]);
    expect(found?.rows).toEqual([{ n: 50 }]);
  } finally {
    await counting.close();
    await database.drop();
  }
});

it.each([
  ["off", "on"],
  ["on", "on"],
  ["local", "local"],
  ["remote_apply", "remote_apply"],
])(
  "a commit is on the disk when it is answered: of a database whose default is %s it is %s",
  async (given, expected) => {
    const { name, url, drop } = await createDatabase(inject("postgresUrl"));
    const ask = async (sql: string) => {
      const db = openPostgres({ url, poolMin: 0 });
      const [found] = await db.readAll([{ sql, params: [] }]).finally(() => db.close());
      return found?.rows;
    };
    try {
      await ask(`alter database ${name} set synchronous_commit = ${given}`);
      expect(await ask("show synchronous_commit")).toEqual([{ synchronous_commit: expected }]);
    } finally {
      await drop();
    }
  },
);

it("a pool with no connection left says so, and not that the server can't be reached", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  const connections = new PostgresConnections({ url: database.url, poolMin: 0, poolMax: 1, connectTimeoutMs: 500 });
  const { promise: done, resolve: giveBack } = Promise.withResolvers<void>();
  const held = connections.use(() => done);
  try {
    await expect(connections.use((client) => client.query("select 1"))).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringMatching(/all 1 connections of the pool were in use for 500 ms.*pool\.max/),
    });
  } finally {
    giveBack();
    await held;
    await connections.close();
    await database.drop();
  }
});

it("a connection that is closed in the moment it opens is an error to its user, and not the process's end", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  const proxy = await startRudeProxy(database.url, 1);
  const connections = new PostgresConnections({ url: proxy.url });
  const ask = () => connections.use((client) => client.query("select 1 as n"));
  try {
    await expect(ask()).rejects.toThrow(/terminat|not queryable/);
    expect((await ask()).rows).toEqual([{ n: 1 }]);
  } finally {
    await connections.close();
    await proxy.close();
    await database.drop();
  }
});

it("a transaction that the server ended because the process stood still in its middle runs again", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  const db = openPostgres({ url: database.url, poolMin: 0 });
  let attempts = 0;
  try {
    await db.atomic([{ sql: "create table counted (n int)", params: [] }]);
    await db.transaction(function* () {
      attempts += 1;
      yield [{ sql: "insert into counted values (1)", params: [] }];
      if (attempts > 1) return;
      yield [{ sql: "set local idle_in_transaction_session_timeout = 20", params: [] }];
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
      yield [{ sql: "select 1", params: [] }];
    });
    const [counted] = await db.readAll([{ sql: "select count(*) as n from counted", params: [] }]);
    expect([attempts, counted?.rows]).toEqual([2, [{ n: 1 }]]);
  } finally {
    await db.close();
    await database.drop();
  }
});

describe("a connection on which no answer comes", () => {
  async function open(waits: { connectTimeoutMs?: number } = {}) {
    const database = await createDatabase(inject("postgresUrl"));
    const proxy = await startSilentProxy(database.url);
    const db = openPostgres({ url: proxy.url, poolMin: 0, quietMs: 50, ...waits });
    onTestFinished(async () => {
      await db.close();
      await proxy.close();
      await database.drop();
    });
    const ask = (sql: string) => db.readAll([{ sql, params: [] }]);
    const add = () => db.atomic([{ sql: "insert into counted values (1)", params: [] }]);
    await db.atomic([{ sql: "create table counted (n int)", params: [] }]);
    return { db, proxy, ask, add };
  }
  const lost = { code: "storage_unavailable", message: expect.stringContaining("gone dead") };

  it("because the line was cut is found by asking over another one, and given up; the next call has a new one", async () => {
    const { db, proxy, ask, add } = await open();
    proxy.cut();
    await expect(add()).rejects.toMatchObject(lost);
    await add();
    const cutInside = db.transaction(function* () {
      yield [{ sql: "insert into counted values (1)", params: [] }];
      proxy.cut();
      yield [{ sql: "insert into counted values (1)", params: [] }];
    });
    await expect(cutInside).rejects.toMatchObject(lost);
    expect((await ask("select count(*) as n from counted"))[0]?.rows).toEqual([{ n: 1 }]);
  });

  it("of a server that can't be asked either is given up as well", async () => {
    const { proxy, ask, add } = await open({ connectTimeoutMs: 300 });
    proxy.cutAll(true);
    await expect(add()).rejects.toMatchObject(lost);
    await expect(add()).rejects.toMatchObject({ code: "storage_unavailable" });
    proxy.cutAll(false);
    expect((await ask("select count(*) as n from counted"))[0]?.rows).toEqual([{ n: 0 }]);
  });

  it("since the server has not come to it yet is waited for as long as a connection is", async () => {
    const late = await startLateProxy(inject("postgresUrl"), 400);
    const db = openPostgres({ url: late.url, poolMin: 0, quietMs: 50 });
    onTestFinished(async () => {
      await db.close();
      await late.close();
    });
    const [found] = await db.readAll([{ sql: "select 1 as n", params: [] }]);
    expect(found?.rows).toEqual([{ n: 1 }]);
  });

  it("because the server is at work, or waits for a lock, is waited for", { tags: "long" }, async () => {
    const { db, ask, add } = await open();
    const [slow] = await ask("select 1 as n, pg_sleep(1.5)");
    expect(slow?.rows).toMatchObject([{ n: 1 }]);
    const locking = db.transaction(function* () {
      yield [{ sql: "lock table counted in access exclusive mode", params: [] }];
      yield [{ sql: "select pg_sleep(1.5)", params: [] }];
    });
    await Promise.all([locking, add(), add()]);
    expect((await ask("select count(*) as n from counted"))[0]?.rows).toEqual([{ n: 2 }]);
  });
});
