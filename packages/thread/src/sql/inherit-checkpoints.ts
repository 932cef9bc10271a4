import { findRow, leantOn } from "../checkpoint/copy-thread.ts";
import { CHECKPOINT_BYTES, lockLineage, sumOf, WRITE_BYTES } from "../checkpoint/lineage.ts";
import { readMessagesAt } from "../checkpoint/timeline-read.ts";
import { type Ancestor, readAncestors } from "./ancestry.ts";
import type { SqlContext } from "./context.ts";
import { prepared } from "./dialect.ts";
import { copyMessageRows, inheritMessages } from "./inherit-messages.ts";
import { all, first, type SqlValue, type Statement, type Tx } from "./statement.ts";

const EVERY = 1_000_000_000;

/**
 * A fork begins with one checkpoint; those that led to it are in the thread it came from. When somebody asks for one of
 * these, it becomes the fork's own, with all that lie in between, so that the way back is as in any other thread. Asked for
 * what is no such checkpoint, or one that is gone by now, this does nothing.
 */
export async function makeCheckpointsInherited(
  ctx: SqlContext,
  session_id: string,
  checkpoint_ids: readonly string[],
): Promise<void> {
  for (const id of checkpoint_ids)
    if (await isInherited(ctx, session_id, id)) await ctx.db.transaction(() => inheritCheckpoint(ctx, session_id, id));
}

/** Whether the session is a fork that has no such checkpoint, and one of its relatives has: a look, before anything is locked. */
async function isInherited({ db }: SqlContext, session_id: string, checkpoint_id: string): Promise<boolean> {
  const sql = `select 1 from sessions s join threads t on t.thread_id = s.thread_id
    where s.id = ? and s.parent_session_id is not null
      and not exists (select 1 from checkpoints c where c.thread = t.pk and c.ns = '' and c.checkpoint_id = ?)
      and exists (select 1 from threads r join checkpoints c on c.thread = r.pk
        where (r.pk = t.lineage or r.lineage = t.lineage) and c.ns = '' and c.checkpoint_id = ?)`;
  const [found] = await db.readAll([prepared(db.dialect, sql, [session_id, checkpoint_id, checkpoint_id])]);
  return (found?.rows.length ?? 0) > 0;
}

/** Of one thread that a fork comes from: the checkpoints that led to where it began, that one first. */
interface Stretch {
  session_id: string;
  thread: number;
  line: Pick<Ancestor, "checkpoint_id" | "seq">[];
}

function* inheritCheckpoint(ctx: SqlContext, session_id: string, checkpoint_id: string): Tx<void> {
  const { db } = ctx;
  const fork = yield* findFork(ctx, session_id);
  // The lock keeps a prune from sweeping what is about to be named.
  if (!fork || !(yield* lockLineage(db.dialect, fork.thread_id))) return;
  const stretches = yield* wayTo(ctx, fork, checkpoint_id);
  if (stretches.length === 0) return;
  yield* inheritMessages(ctx, session_id);
  for (const stretch of stretches) {
    const bytes = sumOf(yield* all(copyStretch(ctx, stretch, fork.thread)));
    yield* all([prepared(db.dialect, "update threads set bytes = bytes + ? where pk = ?", [bytes, fork.thread])]);
  }
  const { messages } = yield* readMessagesAt(db, session_id, checkpoint_id);
  const ids = messages.map(({ id }) => id);
  // Those that came in between may have left the state again before the fork began.
  const checkpoints = stretches.flatMap(({ line }) => line.map((each) => each.checkpoint_id));
  for (const { session_id: from } of stretches) {
    yield* inheritMessages(ctx, from);
    yield* copyMessageRows(ctx, { from, to: session_id, ids, checkpoints });
  }
}

interface Forked {
  thread_id: string;
  thread: number;
  parent: string | null;
  at: string | null;
}

function* findFork({ db }: SqlContext, session_id: string): Tx<Forked | undefined> {
  return yield* first(
    db.q
      .selectFrom("sessions as s")
      .innerJoin("threads as t", "t.thread_id", "s.thread_id")
      .select(["t.thread_id", "t.pk as thread", "s.parent_session_id as parent", "s.parent_checkpoint_id as at"])
      .where("s.id", "=", session_id),
  );
}

/** Through all the forks that lie between; none if it is on no such way. */
function* wayTo(ctx: SqlContext, fork: Forked, checkpoint_id: string): Tx<Stretch[]> {
  const stretches: Stretch[] = [];
  for (let { parent, at } = fork; parent !== null && at !== null; ) {
    const source = yield* findFork(ctx, parent);
    if (!source) break;
    const line = yield* readAncestors(ctx.db, source.thread, at, EVERY);
    const end = line.findIndex((each) => each.checkpoint_id === checkpoint_id);
    const { thread } = source;
    if (end >= 0) {
      const leant = yield* allLeantOn(ctx, thread, checkpoint_id);
      return [...stretches, { session_id: parent, thread, line: [...line.slice(0, end + 1), ...leant] }];
    }
    stretches.push({ session_id: parent, thread, line });
    ({ parent } = source);
    // One that had gone back to before it began comes from there, and not from where it began.
    at = line.some((each) => each.checkpoint_id === source.at) ? source.at : (line.at(-1)?.parent_id ?? null);
  }
  return [];
}

function* allLeantOn({ db: { dialect } }: SqlContext, thread: number, checkpoint_id: string): Tx<Stretch["line"]> {
  const run = (sql: string, params: SqlValue[]) => prepared(dialect, sql, params);
  const row = yield* findRow(run, thread, "", checkpoint_id);
  return row ? yield* leantOn(run, thread, row) : [];
}

const COLUMNS = "seq, ns, checkpoint_id, parent_id, body, metadata, snapshot";
const WRITE_COLUMNS = "ns, checkpoint_id, task_id, idx, channel, value, task_path";

/**
 * With the state of subgraphs that keep it from one call to the next (their namespace names no task), as it was along the way
 * and before it. What is pending where the fork began, and what its subgraphs did from there, is its own.
 */
function copyStretch({ db: { dialect } }: SqlContext, { thread, line }: Stretch, to: number): Statement[] {
  const ids = JSON.stringify(line.map(({ checkpoint_id }) => checkpoint_id));
  const before = JSON.stringify(line.slice(1).map(({ checkpoint_id }) => checkpoint_id));
  const run = (sql: string, params: SqlValue[]) => prepared(dialect, sql, params);
  const ofC = COLUMNS.replaceAll(/(\w+)/g, "c.$1");
  return [
    run(
      `insert into checkpoints (thread, ${COLUMNS}) select cast(? as bigint), ${ofC} from checkpoints c
       where c.thread = ? and c.ns = '' and c.checkpoint_id in (${dialect.eachText})
       on conflict do nothing returning ${CHECKPOINT_BYTES} as bytes`,
      [to, thread, ids],
    ),
    run(
      `insert into checkpoint_writes (thread, ${WRITE_COLUMNS}) select cast(? as bigint), ${WRITE_COLUMNS} from checkpoint_writes
       where thread = ? and ns = '' and checkpoint_id in (${dialect.eachText})
       on conflict do nothing returning ${WRITE_BYTES} as bytes`,
      [to, thread, before],
    ),
    run(
      `insert into checkpoints (thread, ${COLUMNS}) select cast(? as bigint), ${ofC} from checkpoints c
       where c.thread = ? and c.ns > '' and c.ns not like '%:%' and (
         (select r.checkpoint_id from checkpoints r where r.thread = c.thread and r.ns = '' and r.seq < c.seq
          order by r.seq desc limit 1) in (${dialect.eachText})
         or c.seq = (select max(n.seq) from checkpoints n where n.thread = c.thread and n.ns = c.ns and n.seq < ?))
       on conflict do nothing returning ${CHECKPOINT_BYTES} as bytes`,
      [to, thread, before, line.at(-1)?.seq ?? 0],
    ),
  ];
}
