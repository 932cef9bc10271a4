import type { StoredEvent } from "@cognition/contract";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { collect, inTime } from "../src/conformance/collect.ts";
import { idsOf, upTo } from "../src/conformance/started-run.ts";
import { until } from "../src/conformance/until.ts";
import { type SqlContext, systemContext } from "../src/sql/context.ts";
import type { Database } from "../src/sql/database.ts";
import { createEventFeed } from "../src/sql/event-feed.ts";
import { createEventLog } from "../src/sql/event-log.ts";
import { createSubscription } from "../src/sql/event-subscription.ts";
import { packNotices } from "../src/sql/postgres-wake-ups.ts";
import { createRecentEvents } from "../src/sql/recent-events.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { createSqliteWakeUps } from "../src/sql/sqlite-wake-ups.ts";
import { type News, noWakeUps } from "../src/sql/wake-ups.ts";
import { databases, type TestedDatabase } from "./databases.ts";

const NEVER = 2 ** 31 - 1;
const EVENT = { event: "custom", data: {} } as const;

const [sqlite, postgres] = databases.map(({ create }) => create) as [Create, Create];

type Create = () => Promise<TestedDatabase>;

/** A writer and a follower on the same data, as two processes have it. */
async function withTwo(
  create: Create,
  follower: (db: Database) => SqlContext,
  body: (writer: SqlContext, reader: SqlContext, data: TestedDatabase) => Promise<void>,
): Promise<void> {
  const data = await create();
  const writer = systemContext(data.open());
  const reader = follower(data.open());
  try {
    await body(writer, reader, data);
  } finally {
    for (const { feed, db } of [writer, reader]) {
      feed.close();
      await db.close();
    }
    await data.remove();
  }
}

function withPollingOnly(db: Database): SqlContext {
  const deaf: Database = { ...db, wakeUps: noWakeUps };
  return { ...systemContext(deaf), feed: createEventFeed(deaf, { pollMs: 20 }) };
}

function withWakeUpsOnly(db: Database): SqlContext {
  return { ...systemContext(db), feed: createEventFeed(db, { pollMs: NEVER }) };
}

async function followAppends(writer: SqlContext, reader: SqlContext): Promise<void> {
  const { id: session_id } = await createSessionStore(writer).createSession({});
  const follower = createEventLog(reader).followEvents({ session_id, after: 0 })[Symbol.asyncIterator]();
  const log = createEventLog(writer);
  for (const id of upTo(5)) {
    const next = follower.next();
    await log.appendEvents({ session_id, events: [EVENT] });
    expect((await inTime(`event ${id}`, next)).value?.id).toBe(id);
  }
  await follower.return?.();
}

describe.each(databases)("followers in another process, on $name", ({ create }) => {
  it("find events by looking alone, when no wake-up ever comes", () => withTwo(create, withPollingOnly, followAppends));

  it("are woken, when they never look", () => withTwo(create, withWakeUpsOnly, followAppends));

  it("one look serves followers of many sessions, and reads nothing for those without news", () =>
    withTwo(create, withPollingOnly, async (writer, reader) => {
      const store = createSessionStore(writer);
      const sessions = await Promise.all(upTo(10).map(() => store.createSession({})));
      const controller = new AbortController();
      const { signal } = controller;
      const followers = sessions.map(({ id: session_id }) =>
        createEventLog(reader).followEvents({ session_id, after: 0, signal })[Symbol.asyncIterator](),
      );
      const pending = followers.map((follower) => follower.next());
      await until("all follow", async () => (reader.feed.followers === 10 ? true : undefined));
      const last = sessions.at(-1)?.id ?? "";
      await createEventLog(writer).appendEvents({ session_id: last, events: [EVENT] });
      expect(await inTime("the event", pending.at(-1) as Promise<unknown>)).toMatchObject({
        value: { session_id: last },
      });
      controller.abort();
      for (const follower of pending.slice(0, -1))
        expect(await inTime("the end", follower)).toMatchObject({ done: true });
      expect(reader.feed.followers).toBe(0);
    }));
});

it("wake-ups on sqlite outlast a file that can't be read for a while, which ended the process", async () => {
  let version: number | undefined;
  let looks = 0;
  const wakeUps = createSqliteWakeUps(() => {
    looks++;
    if (version === undefined) throw new Error("disk I/O error");
    return version;
  });
  const heard: News[] = [];
  wakeUps.listen((news) => heard.push(news));
  await until("another look", async () => (looks > 2 ? true : undefined));
  expect(heard).toEqual([]);
  version = 1;
  await until("the news", async () => (heard.length > 0 ? true : undefined));
  expect(heard).toEqual(["any"]);
  await wakeUps.close();
});

describe("wake-ups on postgres", () => {
  it("come back by themselves when their connection is lost, and nothing is missed", () =>
    withTwo(postgres, withWakeUpsOnly, async (writer, reader, { uri }) => {
      const { id: session_id } = await createSessionStore(writer).createSession({});
      const events = collect(
        createEventLog(reader).followEvents({ session_id, after: 0 }),
        (taken) => taken.length === 3,
      );
      const log = createEventLog(writer);
      await log.appendEvents({ session_id, events: [EVENT] });
      const admin = new Client({ connectionString: uri });
      await admin.connect();
      const listening =
        "from pg_stat_activity where datname = current_database() and application_name = 'cognition wake-ups'";
      const pid = async () => (await admin.query(`select pid ${listening}`)).rows[0]?.pid as number | undefined;
      const lost = await until("the listener", pid);
      await admin.query("select pg_terminate_backend($1)", [lost]);
      await log.appendEvents({ session_id, events: [EVENT] });
      await until("a new listener", async () => {
        const now = await pid();
        return now !== undefined && now !== lost ? now : undefined;
      });
      await log.appendEvents({ session_id, events: [EVENT] });
      expect(idsOf(await events)).toEqual([1, 2, 3]);
      await admin.end();
    }));

  it("are told apart from what others send on their channel, which ended the process", () =>
    withTwo(postgres, withWakeUpsOnly, async (writer, reader, { uri }) => {
      const { id: session_id } = await createSessionStore(writer).createSession({});
      const heard: News[] = [];
      reader.db.wakeUps.listen((news) => heard.push(news));
      await until("a listener", async () => (heard.length > 0 ? true : undefined));
      const other = new Client({ connectionString: uri });
      await other.connect();
      for (const payload of ["", "vacuumed", "{}", "null", '[["a"], 1]'])
        await other.query("select pg_notify('cognition_events', $1)", [payload]);
      await other.end();
      writer.db.wakeUps.send(session_id);
      await until("the news", async () => (heard.flat().includes(session_id) ? true : undefined));
      expect(heard.flat().filter((news) => news !== "any")).toEqual([session_id]);
    }));

  it("are sent together: many events in a moment are few notices, and none to the sender itself", () =>
    withTwo(postgres, withWakeUpsOnly, async (writer, _, { uri }) => {
      const store = createSessionStore(writer);
      const sessions = await Promise.all(upTo(10).map(() => store.createSession({})));
      const listener = new Client({ connectionString: uri });
      await listener.connect();
      await listener.query("listen cognition_events");
      const notices: string[][] = [];
      listener.on("notification", ({ payload }) => notices.push(JSON.parse(payload ?? "[]")));
      const own: unknown[] = [];
      const stop = writer.db.wakeUps.listen((news) => own.push(news));
      await until("the sender listens", async () => (own.length > 0 ? true : undefined));
      const log = createEventLog(writer);
      const start = performance.now();
      const writes = upTo(20).flatMap(() =>
        sessions.map(({ id }) => log.appendEvents({ session_id: id, events: [EVENT] })),
      );
      await Promise.all(writes);
      const took = performance.now() - start;
      const ids = sessions.map(({ id }) => id).sort();
      const heard = async () => {
        const found = [...new Set(notices.flatMap(([, ...session_ids]) => session_ids))].sort();
        return found.length === ids.length ? found : undefined;
      };
      expect(await until("every session was named", heard)).toEqual(ids);
      expect(notices.length).toBeLessThanOrEqual(took / 20 + 2);
      expect(own).toEqual(["any"]);
      stop();
      await listener.end();
    }));

  it("fit into what PostgreSQL takes", () => {
    const ids = upTo(1_000).map((n) => `${n}-${"é".repeat(n % 120)}`);
    const notices = packNotices("node", ids);
    for (const notice of notices) expect(Buffer.byteLength(notice)).toBeLessThan(8_000);
    expect(notices.flatMap((notice) => (JSON.parse(notice) as string[]).slice(1))).toEqual(ids);
    expect(packNotices("node", [])).toEqual([]);
  });
});

describe("followers on sqlite", () => {
  it("miss nothing that is committed between the subscription and the replay", () =>
    withTwo(sqlite, withWakeUpsOnly, async (writer) => {
      const { id: session_id } = await createSessionStore(writer).createSession({});
      const feed = createEventFeed({ ...writer.db, wakeUps: noWakeUps }, { pollMs: NEVER });
      const log = createEventLog({ ...writer, feed });
      let replays = 0;
      const slow: Database = {
        ...writer.db,
        read: async (query) => {
          const found = await writer.db.read(query);
          if (replays++ === 0) await log.appendEvents({ session_id, events: [EVENT] });
          return found;
        },
      };
      const follower = createEventLog({ ...writer, db: slow, feed }).followEvents({ session_id, after: 0 });
      expect(idsOf(await collect(follower, (events) => events.length === 1))).toEqual([1]);
      feed.close();
    }));

  it("leave no timer behind, neither of looking nor of listening", () =>
    withTwo(sqlite, withPollingOnly, async (writer, polling) => {
      const { id: session_id } = await createSessionStore(writer).createSession({});
      const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
      for (const ctx of [polling, writer]) {
        const before = timers();
        const controller = new AbortController();
        const follow = { session_id, after: 0, signal: controller.signal };
        const pending = createEventLog(ctx).followEvents(follow)[Symbol.asyncIterator]().next();
        expect(timers()).toBeGreaterThan(before);
        controller.abort();
        expect(timers()).toBe(before);
        expect(await inTime("the end", pending)).toMatchObject({ done: true });
      }
    }));
});

describe("recent events", () => {
  const events = (first: number, count: number) => upTo(count).map((n) => ({ id: first + n - 1 }) as StoredEvent);
  const ids = (found: StoredEvent[] | undefined) => found?.map(({ id }) => id);

  it("are the last ones, without a gap, and only where they reach the log's end", () => {
    const recent = createRecentEvents(4);
    recent.add("s", events(1, 3));
    recent.add("s", events(4, 3));
    expect(ids(recent.find("s", 3, 6))).toEqual([4, 5, 6]);
    expect(ids(recent.find("s", 2, 6))).toEqual([3, 4, 5, 6]);
    expect(ids(recent.find("s", 6, 6))).toEqual([]);
    expect(recent.find("s", 1, 6)).toBeUndefined();
    expect(recent.find("s", 3, 7)).toBeUndefined();
    expect(recent.find("s", 7, 6)).toBeUndefined();
    expect(recent.find("other", 0, 0)).toBeUndefined();
    recent.add("s", events(9, 1));
    expect(recent.find("s", 6, 9)).toBeUndefined();
    expect(ids(recent.find("s", 8, 9))).toEqual([9]);
  });

  it("are bounded over all sessions: the quietest go first", () => {
    const recent = createRecentEvents(10, 20);
    for (const session of ["a", "b", "a", "c"]) recent.add(session, events(session === "a" ? 1 : 11, 8));
    expect(recent.find("b", 10, 18)).toBeUndefined();
    expect(ids(recent.find("c", 16, 18))).toEqual([17, 18]);
    expect(createRecentEvents(0).find("a", 0, 0)).toBeUndefined();
  });

  it("spare a follower that knows the log's end its read, and lose nothing that comes in between", () =>
    withTwo(sqlite, withWakeUpsOnly, async (writer) => {
      const { id: session_id } = await createSessionStore(writer).createSession({});
      const log = createEventLog(writer);
      await log.appendEvents({ session_id, events: [EVENT, EVENT, EVENT] });
      let reads = 0;
      const counted: Database = {
        ...writer.db,
        read: (query) => {
          reads += 1;
          return writer.db.read(query);
        },
      };
      const follower = createEventLog({ ...writer, db: counted })
        .followEvents({ session_id, after: 1, head: 3 })
        [Symbol.asyncIterator]();
      await log.appendEvents({ session_id, events: [EVENT] });
      const seen: (number | undefined)[] = [];
      for (const _ of upTo(3)) seen.push((await inTime("an event", follower.next())).value?.id);
      const next = follower.next();
      await log.appendEvents({ session_id, events: [EVENT] });
      seen.push((await inTime("what is live", next)).value?.id);
      expect([seen, reads]).toEqual([[2, 3, 4, 5], 0]);
      await follower.return?.();
    }));
});

describe("a subscription", () => {
  const event = (id: number) => ({ id }) as Parameters<ReturnType<typeof createSubscription>["offer"]>[0][number];
  const fresh = (position: number) => {
    const subscription = createSubscription(() => undefined);
    subscription.position = position;
    subscription.unread = false;
    return subscription;
  };

  it("holds a bounded number of events; past that its reader is sent to the log", () => {
    const subscription = fresh(0);
    for (const id of upTo(256)) subscription.offer([event(id)]);
    expect(subscription.unread).toBe(false);
    subscription.offer([event(257)]);
    expect(subscription.unread).toBe(true);
    expect(subscription.take()).toEqual([]);
  });

  it("gives what follows without a gap, and nothing twice", () => {
    const subscription = fresh(2);
    subscription.offer([event(1), event(2), event(3)]);
    subscription.offer([event(4)]);
    expect(subscription.take()).toEqual([event(3), event(4)]);
    expect(subscription.take()).toEqual([]);
    expect(subscription.unread).toBe(false);
  });

  it("sends its reader to the log when answers crossed", () => {
    const subscription = fresh(0);
    subscription.offer([event(3)]);
    expect(subscription.take()).toEqual([]);
    expect(subscription.unread).toBe(true);
    subscription.unread = false;
    subscription.offer([event(2)]);
    subscription.offer([event(1)]);
    expect(subscription.unread).toBe(true);
  });
});
