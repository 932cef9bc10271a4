import { setImmediate as turn } from "node:timers/promises";
import { AppError } from "@cognition/contract";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { put } from "../src/conformance/checkpoint-line.ts";
import type { Database } from "../src/sql/database.ts";
import { createEventLog } from "../src/sql/event-log.ts";
import { createMessageProjection } from "../src/sql/message-projection.ts";
import { createMessageStore } from "../src/sql/message-store.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import type { QueryResult, Statement } from "../src/sql/statement.ts";
import { createTimelineStore } from "../src/sql/timeline-store.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";

const MESSAGES = 6_000;
/** More rows than this are not read at a time. */
const PORTION = 500;

/** How many turns of the event loop others had while the work was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const others = (async () => {
    for (; !isOver; turns++) await turn();
  })();
  try {
    await work();
  } finally {
    isOver = true;
  }
  await others;
  return turns;
}

function conversation(length: number): HumanMessage[] {
  return Array.from({ length }, (_, n) => new HumanMessage({ id: `${n}`, content: `says ${n}` }));
}

/** A session with more of everything than goes at once; and a second one, which stays. */
async function longSessions({ ctx, saver }: OpenDatabase) {
  const [gone, kept] = [
    await createSessionStore(ctx).createSession({}),
    await createSessionStore(ctx).createSession({}),
  ];
  for (const { id: session_id, thread_id } of [gone, kept]) {
    await put(saver, thread_id, { messages: conversation(3_000) });
    const events = Array.from({ length: 3_000 }, (_, n) => ({ event: "token" as const, data: { content: `${n}` } }));
    await createEventLog(ctx).appendEvents({ session_id, events });
  }
  return { gone, kept };
}

async function rowsOf({ db }: OpenDatabase): Promise<number[]> {
  const counts = ["events", "pieces", "checkpoints"] as const;
  const queries = counts.map((table) => db.q.selectFrom(table).select((eb) => eb.fn.countAll().as("n")));
  return Promise.all(queries.map(async (query) => Number((await db.read(query))[0]?.n)));
}

/** Tells of each statement of a transaction, and of what it came to. */
function inTransactions(tell: (statement: Statement, result: QueryResult) => void) {
  return (db: Database): Database => ({
    ...db,
    transaction: (body, writer) =>
      db.transaction(function* () {
        const steps = body();
        let step = steps.next();
        while (!step.done) {
          const results = yield step.value;
          step.value.forEach((one, i) => {
            tell(one, results[i] as QueryResult);
          });
          step = steps.next(results);
        }
        return step.value;
      }, writer),
  });
}

describe.each(savers)("the deletion of a long session on $name", ({ run }) => {
  it("takes portions of all that nobody sees without it, in transactions of their own", () => {
    const deleted: number[] = [];
    const counted = inTransactions(({ sql }, { changes }) => {
      if (/^delete from (events|pieces)/.test(sql)) deleted.push(changes);
    });
    return run(async (open) => {
      const { gone, kept } = await longSessions(open);
      expect(await createSessionStore(open.ctx).deleteSession(gone.id)).toBe(true);
      expect(Math.max(...deleted)).toBe(2_000);
      expect(await rowsOf(open)).toEqual([3_000, 3_000, 1]);
      expect(await createEventLog(open.ctx).lastEventId(kept.id)).toBe(3_000);
      expect(await open.saver.sweepExpired()).toEqual([]);
    }, counted);
  });

  it("is over for everybody if the process dies in its middle, and the next sweep takes what is left", () => {
    let transactions = Number.POSITIVE_INFINITY;
    const dying = (db: Database): Database => ({
      ...db,
      transaction: async (body, writer) => {
        if (transactions-- <= 0) throw new Error("killed");
        return db.transaction(body, writer);
      },
    });
    return run(async (open) => {
      const { gone, kept } = await longSessions(open);
      transactions = 1;
      await expect(createSessionStore(open.ctx).deleteSession(gone.id)).rejects.toThrow("killed");
      transactions = Number.POSITIVE_INFINITY;
      expect(await rowsOf(open)).toEqual([4_000, 4_000, 1]);
      const after = open.another();
      const config = { configurable: { thread_id: gone.thread_id } };
      expect(await createSessionStore(open.ctx).getSession(gone.id)).toBeNull();
      expect(await createSessionStore(open.ctx).deleteSession(gone.id)).toBe(false);
      await expect(createEventLog(open.ctx).readEvents({ session_id: gone.id })).rejects.toMatchObject({
        code: "session_not_found",
      });
      expect(await after.getTuple(config)).toBeUndefined();
      await expect(put(after, gone.thread_id, { messages: [] })).rejects.toMatchObject({ code: "thread_deleted" });
      expect(await after.sweepExpired()).toEqual([]);
      expect(await rowsOf(open)).toEqual([3_000, 3_000, 1]);
      const left = await after.getTuple({ configurable: { thread_id: kept.thread_id } });
      expect(left?.checkpoint.channel_values["messages"]).toHaveLength(3_000);
    }, dying);
  });

  it("has not failed where the storage goes away once it is gone: the next sweep takes what is left, of a thread likewise", () => {
    let transactions = Number.POSITIVE_INFINITY;
    const away = (db: Database): Database => ({
      ...db,
      transaction: async (body, writer) => {
        if (transactions-- <= 0) throw new AppError("storage_unavailable", "the connection was lost");
        return db.transaction(body, writer);
      },
    });
    return run(async (open) => {
      const { gone, kept } = await longSessions(open);
      transactions = 1;
      expect(await createSessionStore(open.ctx).deleteSession(gone.id)).toBe(true);
      transactions = 1;
      await open.saver.deleteThread(kept.thread_id);
      transactions = Number.POSITIVE_INFINITY;
      expect(await rowsOf(open)).toEqual([4_000, 2_000, 0]);
      expect(await open.saver.sweepExpired()).toEqual([]);
      // A thread's events are its session's, which is still there.
      expect(await rowsOf(open)).toEqual([3_000, 0, 0]);
    }, away);
  });
});

/** Tells how many rows each statement that is read by itself gives. */
function tellRows(read: number[]) {
  return (db: Database): Database => ({
    ...db,
    readAll: async (...asked) => {
      const results = await db.readAll(...asked);
      read.push(...results.map(({ rows }) => rows.length));
      return results;
    },
  });
}

describe.each(savers)("a long conversation on $name", ({ run }) => {
  it("is read in portions, with turns for others in between", () => {
    const read: number[] = [];
    return run(async ({ saver, another }) => {
      const messages = conversation(MESSAGES);
      const { config } = await put(saver, "t", { messages });
      let tuple: Awaited<ReturnType<typeof saver.getTuple>>;
      read.length = 0;
      const turns = await turnsDuring(async () => {
        tuple = await another().getTuple(config);
      });
      expect(tuple?.checkpoint.channel_values["messages"]).toEqual(messages);
      expect(Math.max(...read)).toBe(PORTION);
      expect(turns).toBeGreaterThan(3);
    }, tellRows(read));
  });

  it("of another branch, as its session's messages, likewise", () => {
    const read: number[] = [];
    return run(async ({ ctx, saver }) => {
      const { id, thread_id } = await createSessionStore(ctx).createSession({});
      const { checkpoint } = await put(saver, thread_id, { messages: conversation(MESSAGES) });
      let found: { id: string; parent_id: string | null }[] = [];
      read.length = 0;
      const turns = await turnsDuring(async () => {
        found = await createTimelineStore(ctx).messagesAt(id, checkpoint.id);
      });
      expect(found.map((message) => message.id)).toEqual(conversation(MESSAGES).map((message) => message.id));
      expect(found.at(-1)).toMatchObject({ parent_id: `${MESSAGES - 2}`, content: `says ${MESSAGES - 1}` });
      expect(Math.max(...read)).toBe(PORTION);
      expect(turns).toBeGreaterThan(3);
    }, tellRows(read));
  });
});

describe.each(savers)("a long conversation whose session is deleted while it is read, on $name", ({ run }) => {
  it.each(["messagesAt", "readTimeline"] as const)("is gone, and not damaged: %s", (name) => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const disturbed = (db: Database): Database => ({
      ...db,
      readAll: async (...asked) => {
        const first = asked[0].some(({ sql }) => /from pieces/.test(sql)) ? meanwhile : undefined;
        if (first) meanwhile = undefined;
        await first?.();
        return db.readAll(...asked);
      },
    });
    return run(async ({ ctx, saver }) => {
      const { id, thread_id } = await createSessionStore(ctx).createSession({});
      const { checkpoint } = await put(saver, thread_id, { messages: conversation(1_000) });
      const { messagesAt, readTimeline } = createTimelineStore(ctx);
      const read = { messagesAt: () => messagesAt(id, checkpoint.id), readTimeline: () => readTimeline(id) };
      meanwhile = () => createSessionStore(ctx).deleteSession(id);
      const outcome = await read[name]().catch(({ code }: { code: string }) => code);
      expect(outcome).toEqual({ messagesAt: "checkpoint_not_found", readTimeline: [] }[name]);
    }, disturbed);
  });
});

describe.each(savers)("what goes through all messages of a long session, on $name", ({ run }) => {
  it("has read them before its transaction, which changes many rows at a time", () => {
    let [statements, pieces] = [0, 0];
    const counted = inTransactions(({ sql }, { rows }) => {
      statements++;
      if (/from pieces/.test(sql)) pieces += rows.length;
    });
    return run(async (open) => {
      const { kept } = await longSessions(open);
      const fork = await createTimelineStore(open.ctx).forkSession({ session_id: kept.id, files: false });
      const { listMessagesForSession } = createMessageStore(open.ctx);
      const original = await listMessagesForSession(kept.id);
      [statements, pieces] = [0, 0];
      const copied = await listMessagesForSession(fork.id);
      const { rebuildMessages } = createMessageProjection(open.ctx);
      expect(await rebuildMessages(kept.id)).toEqual({ checked: 3_000, repaired: 0, added: 0, removed: 0 });
      expect(copied).toEqual(original.map((message) => ({ ...message, session_id: fork.id })));
      expect(pieces).toBe(0);
      expect(statements).toBeLessThan(100);
    }, counted);
  });

  it("takes in what has come between the two", () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const disturbed = (db: Database): Database => ({
      ...db,
      transaction: async (body, writer) => {
        const first = meanwhile;
        meanwhile = undefined;
        await first?.();
        return db.transaction(body, writer);
      },
    });
    return run(async ({ ctx, saver }) => {
      const { id, thread_id } = await createSessionStore(ctx).createSession({});
      const at = await put(saver, thread_id, { messages: conversation(50) });
      meanwhile = () => put(saver, at, { messages: conversation(60) });
      const { rebuildMessages } = createMessageProjection(ctx);
      expect(await rebuildMessages(id)).toEqual({ checked: 60, repaired: 0, added: 0, removed: 0 });
      expect(await createMessageStore(ctx).listMessagesForSession(id)).toHaveLength(60);
    }, disturbed);
  });
});
