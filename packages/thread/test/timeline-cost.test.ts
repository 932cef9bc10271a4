import { describe, expect, it } from "vitest";
import { put } from "../src/conformance/checkpoint-line.ts";
import { human } from "../src/conformance/projected-conversation.ts";
import { readAncestors } from "../src/sql/ancestry.ts";
import type { Database } from "../src/sql/database.ts";
import { createMessageStore } from "../src/sql/message-store.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { createTimelineStore } from "../src/sql/timeline-store.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";
import { type Cost, counting, NOTHING } from "./counted-database.ts";
import { fastest } from "./fastest.ts";

/** What it takes to fork a session of so many steps, and to take it back by five. */
async function costsOf({ ctx, saver }: OpenDatabase, cost: Cost, steps: number): Promise<{ fork: Cost; rewind: Cost }> {
  const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
  const timeline = createTimelineStore(ctx);
  const messages: unknown[] = [];
  const ids: string[] = [];
  let at: string | Awaited<ReturnType<typeof put>> = thread_id;
  for (let i = 0; i < steps; i++) {
    messages.push(human(`m${i}`, "x".repeat(450)));
    at = await put(saver, at, { messages: [...messages] }, { step: i });
    ids.push(at.checkpoint.id);
  }
  const measured = async (work: () => Promise<unknown>) => {
    Object.assign(cost, NOTHING);
    await work();
    return { ...cost };
  };
  const fork = await measured(() => timeline.forkSession({ session_id, files: true }));
  const way = { session_id, checkpoint_id: ids.at(-5) ?? "", expected_head: ids.at(-1) ?? "", conversation: true };
  return { fork, rewind: await measured(() => timeline.rewindSession(way)) };
}

const SHORT = 40;
const LONG = 400;

describe.each(savers)(`a thread of ${LONG} steps against one of ${SHORT}, on $name`, ({ run }) => {
  it("is forked and rewound by as many statements over as many rows, and a fork sends under 50 KB", () => {
    const cost = { ...NOTHING };
    return run(
      async (open) => {
        const short = await costsOf(open, cost, SHORT);
        const long = await costsOf(open, cost, LONG);
        for (const work of ["fork", "rewind"] as const) {
          expect(long[work].statements).toBeGreaterThan(0);
          expect(long[work].statements).toBe(short[work].statements);
          expect(long[work].rows).toBe(short[work].rows);
          expect(long[work].read).toBeLessThan(short[work].read * 1.5);
          expect(long[work].sent).toBeLessThan(short[work].sent * 1.5);
        }
        expect(long.fork.sent).toBeLessThan(50_000);
      },
      (db) => counting(db, cost),
    );
  });
});

/** What it takes to read a fork of a conversation of so many messages for the first time. */
async function costOfReading({ ctx, saver }: OpenDatabase, cost: Cost, count: number): Promise<Cost> {
  const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
  const messages = Array.from({ length: count }, (_, i) => human(`m${i}`, "x"));
  await put(saver, thread_id, { messages }, { step: 0 });
  const fork = await createTimelineStore(ctx).forkSession({ session_id, files: true });
  Object.assign(cost, NOTHING);
  expect((await createMessageStore(ctx).getMessagesBySession(fork.id)).total).toBe(count);
  return { ...cost };
}

describe.each(savers)(`a fork of ${LONG} messages against one of ${SHORT}, on $name`, ({ run }) => {
  it("is first read in as many round trips", () => {
    const cost = { ...NOTHING };
    return run(
      async (open) => {
        const short = await costOfReading(open, cost, SHORT);
        expect(short.flights).toBeGreaterThan(0);
        expect((await costOfReading(open, cost, LONG)).flights).toBe(short.flights);
      },
      (db) => counting(db, cost),
    );
  });
});

const MANY = 40_000;

/** What it takes to undo so many artifacts of a session. */
async function costOfUndoing({ ctx, saver }: OpenDatabase, cost: Cost, artifacts: number): Promise<Cost> {
  const { db } = ctx;
  const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
  const { checkpoint } = await put(saver, thread_id, { messages: [human("m", "x")] }, { step: 0 });
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${artifacts})`;
  await db.atomic([
    {
      sql: `${numbers} insert into artifacts
          (id, scope, session_id, name, artifact_type, visibility, version, created_at, updated_at)
        select '${session_id}.' || n, '{}', '${session_id}', 'a', 'file', 'session', 1, '', '' from numbers`,
      params: [],
    },
    {
      sql: `insert into artifact_versions
          (artifact_id, version, content, content_type, encoding, size, hash, checkpoint_id, created_at)
        select id, 1, '', 'text/plain', 'utf8', 0, '', 'earlier', '' from artifacts where session_id = '${session_id}'`,
      params: [],
    },
  ]);
  Object.assign(cost, NOTHING);
  const way = { session_id, checkpoint_id: null, expected_head: checkpoint.id, conversation: true, artifacts: true };
  await createTimelineStore(ctx).rewindSession(way);
  const undone = db.q.selectFrom("artifacts").select("id").where("session_id", "=", session_id);
  expect(await db.read(undone.where("undone", "=", 1))).toHaveLength(artifacts);
  return { ...cost };
}

describe.each(savers)(`${MANY} artifacts against ten, on $name`, ({ run }) => {
  it("are undone by as many statements", () => {
    const cost = { ...NOTHING };
    return run(
      async (open) => {
        const few = await costOfUndoing(open, cost, 10);
        const many = await costOfUndoing(open, cost, MANY);
        expect(few.statements).toBeGreaterThan(0);
        expect(many.statements).toBe(few.statements);
      },
      (db) => counting(db, cost),
    );
  });
});

/** A line of checkpoints that came all at once, so that the database has no statistics of them. */
async function layLine({ db }: OpenDatabase, thread: number, length: number): Promise<void> {
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${length})`;
  const sql = `${numbers} insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata)
    select ${thread}, n, '', 'c' || n, case when n > 1 then 'c' || (n - 1) end, '', '{"source":"loop"}' from numbers`;
  await db.atomic([{ sql, params: [] }]);
}

describe.each(savers)("a line of 3,000 checkpoints against one of 300, on $name", ({ run }) => {
  it("takes about ten times as long to go back, also before the first ANALYZE", () =>
    run(async (open) => {
      const { db } = open;
      const goBack = async (thread: number, length: number) => {
        const ancestors = await db.transaction(() => readAncestors(db, thread, `c${length}`, length));
        expect(ancestors).toHaveLength(length);
      };
      await layLine(open, 1, 300);
      await layLine(open, 2, 3000);
      const short = await fastest(db, () => goBack(1, 300));
      expect((await fastest(db, () => goBack(2, 3000))) / short).toBeLessThan(40);
    }));
});

/** Tells how many statements the longest of its transactions had. */
function longestOf(db: Database, longest: { statements: number }): Database {
  const transaction: Database["transaction"] = async (body, writer) => {
    const cost = { ...NOTHING };
    const result = await counting(db, cost).transaction(body, writer);
    longest.statements = Math.max(longest.statements, cost.statements);
    return result;
  };
  return { ...db, transaction };
}

describe.each(savers)("forks that nobody has read, on $name", ({ run }) => {
  const longest = { statements: 0 };
  const test = (name: string, perFork: number, longestFor: (open: OpenDatabase, forks: number) => Promise<void>) =>
    it(name, () =>
      run(
        async (open) => {
          const measured = async (forks: number) => {
            await longestFor(open, forks);
            return longest.statements;
          };
          const few = await measured(3);
          expect(few).toBeGreaterThan(0);
          expect(await measured(10)).toBe(few + 7 * perFork);
        },
        (db) => longestOf(db, longest),
      ),
    );

  async function begin({ ctx, saver }: OpenDatabase) {
    const { id, thread_id } = await createSessionStore(ctx).createSession({});
    await put(saver, thread_id, { messages: [human("m1", "a"), human("m2", "b")] }, { step: 0 });
    return id;
  }

  // Two for each thread that may still name what the deleted one has stored.
  test("each take what they came from in a transaction of their own, when that is deleted", 2, async (open, forks) => {
    const { ctx } = open;
    const session_id = await begin(open);
    for (let n = 0; n < forks; n++) await createTimelineStore(ctx).forkSession({ session_id, files: true });
    longest.statements = 0;
    expect(await createSessionStore(ctx).deleteSession(session_id)).toBe(true);
  });

  test("and so do those that one was forked from, when it is read", 0, async (open, forks) => {
    const { ctx } = open;
    let session_id = await begin(open);
    for (let n = 0; n < forks; n++)
      session_id = (await createTimelineStore(ctx).forkSession({ session_id, files: true })).id;
    longest.statements = 0;
    const { messages } = await createMessageStore(ctx).getMessagesBySession(session_id);
    expect(messages).toHaveLength(2);
  });
});
