import type { Message, Run } from "@cognition/contract";
import { sql } from "kysely";
import type { WriterLease } from "../checkpoint/lease.ts";
import type { NewDelivery } from "../delivery-store.ts";
import type { NewEvent } from "../event-log.ts";
import type { Lease, RunEnd } from "../run-store.ts";
import { isDifference, repairProjection, requireProjected, selectProjected } from "./check-projection.ts";
import type { SqlContext } from "./context.ts";
import { insertDelivery } from "./delivery-store.ts";
import { insertEvents, storedEvents } from "./event-rows.ts";
import { fixedQuery } from "./fixed-query.ts";
import { advanceLeased, leaseRefused, writeLeased } from "./lease-fence.ts";
import { ONE } from "./limit.ts";
import { rebuildMessages } from "./message-projection.ts";
import { type MessageRow, toMessage } from "./message-row.ts";
import { IS_OPEN, type RunRow, toRun } from "./run-row.ts";
import { type SessionStatus, setSessionStatus } from "./session-status.ts";
import { all, type QueryResult, type Statement, type Tx } from "./statement.ts";
import { insertUsage } from "./usage-store.ts";

export interface Leaving {
  /** Of the run's own row: from running under the lease, or not at all (`changeRunning`). */
  change: Statement;
  session_status?: SessionStatus;
  events: readonly NewEvent[];
  delivery?: NewDelivery | undefined;
  /** Of a run that ends: what it has used in all. */
  usage?: Run["usage"] | undefined;
  withLastWord?: RunEnd["withLastWord"];
  /** The messages are made anew from all that is stored, rather than looked up. */
  rebuild?: boolean | undefined;
}

export interface Left {
  run: Run;
  /** Others of the session are queued. */
  others_wait: boolean;
}

/** What is to be stored when a run stops running, in the transaction that advances its thread. */
export interface LeavingWrite {
  /** Of all events of the commit. */
  readonly created_at: string;
  /** How many events it adds: the thread's row is raised by all of them. */
  readonly events: number;
  /** They follow the statement that advances the thread and ends the lease. */
  readonly statements: readonly Statement[];
  /** Takes their results, and stores the rest: its own events after those that come before them in the same commit. */
  finish(results: readonly QueryResult[], thread_id: string, before: readonly NewEvent[]): Tx<LeftWith>;
}

/** With all events of the commit, as they were stored. */
export type LeftWith = Left & { events: readonly NewEvent[] };

/**
 * The run stops running: its new state, its events, the outbox row, the session's status and the lease's end at once. The
 * message rows that it leaves are those of its checkpoints; if somebody has changed them meanwhile, they are rebuilt first.
 * `together` may store it in a commit that is about to be made, and gives undefined if there is none.
 */
export async function leaveRun(
  ctx: SqlContext,
  lease: WriterLease,
  leaving: Leaving,
  together: (write: LeavingWrite) => Promise<Left | undefined> | undefined = () => undefined,
): Promise<Left> {
  const created_at = ctx.now();
  const checked = () => leavingWrite(ctx, lease, leaving, { created_at, projected: lease.projected });
  const unchecked = () => leavingWrite(ctx, lease, leaving, { created_at });
  return writeLeased(
    ctx.db,
    lease,
    async () => (await together(checked())) ?? (leaving.rebuild ? leaveAlone(ctx, lease, unchecked()) : leaveChecked()),
  );

  async function leaveChecked(): Promise<Left> {
    try {
      return await leaveAlone(ctx, lease, checked());
    } catch (error) {
      if (!isDifference(error)) throw error;
      await repairProjection(ctx, lease, error);
      return leaveAlone(ctx, lease, unchecked());
    }
  }
}

async function leaveAlone(ctx: SqlContext, lease: Lease, write: LeavingWrite): Promise<Left> {
  const { created_at } = write;
  const { events, event_seq, ...left } = await ctx.db.transaction(() => leave(ctx, lease, write), lease.run_id);
  const { id: run_id, session_id } = left.run;
  ctx.feed.publish(session_id, storedEvents({ session_id, run_id, events, created_at }, event_seq));
  return left;
}

function* leave(ctx: SqlContext, lease: Lease, write: LeavingWrite): Tx<LeftWith & { event_seq: number }> {
  const advance = advanceLeased(ctx.db, lease, { events: write.events, ends: true });
  const [thread, ...results] = yield* all([advance, ...write.statements]);
  const row = thread?.rows[0] as unknown as { thread_id: string; event_seq: number };
  return { ...(yield* write.finish(results, row.thread_id, [])), event_seq: row.event_seq };
}

interface Checked {
  created_at: string;
  projected?: WriterLease["projected"] | undefined;
}

function leavingWrite(ctx: SqlContext, { run_id }: Lease, leaving: Leaving, checked: Checked): LeavingWrite {
  const { db } = ctx;
  const { created_at, projected } = checked;
  const looks = projected
    ? [selectProjected(db, projected)]
    : leaving.withLastWord
      ? [selectLastWord(db, { run_id })]
      : [];
  return {
    created_at,
    events: leaving.events.length,
    statements: [{ ...leaving.change, requireRow: leaseRefused }, ...looks],
    *finish([changed, found], thread_id, before) {
      const row = changed?.rows[0] as unknown as RunRow;
      const { session_id, scope } = row;
      if (projected) requireProjected(projected, found);
      const { events: own, delivery } = yield* completed(ctx, leaving, run_id, found);
      const events = [...before, ...own];
      const [queued] = yield* all([
        selectQueued(db, { session_id }),
        ...insertEvents(db.dialect, { thread_id, run_id, events, created_at }),
        ...(delivery ? [insertDelivery(ctx, delivery, { session_id, run_id, scope })] : []),
        ...insertUsage(ctx, row, leaving.usage ?? null, created_at),
        ...(leaving.session_status ? [setSessionStatus(ctx, session_id, leaving.session_status)] : []),
      ]);
      if (leaving.rebuild) yield* rebuildMessages(ctx, session_id);
      return { run: toRun(row), others_wait: queued?.rows.length === 1, events };
    },
  };
}

/** With what only the rows of this very commit can say. */
function* completed(
  { db }: SqlContext,
  { events, delivery, withLastWord }: Leaving,
  run_id: string,
  found: QueryResult | undefined,
): Tx<Pick<Leaving, "events" | "delivery">> {
  if (!withLastWord) return { events, delivery };
  let word = lastWordIn(found, run_id);
  // What an earlier attempt has said is not among the rows that this one wrote.
  if (!word) word = lastWordIn((yield* all([selectLastWord(db, { run_id })]))[0], run_id);
  const told = withLastWord(word ?? null);
  const done = events.at(-1) as NewEvent;
  return {
    events: [...events.slice(0, -1), { ...done, data: { ...done.data, ...told.done } }],
    delivery: told.delivery,
  };
}

/** The run's last word, if the rows hold one of its own. */
function lastWordIn(found: QueryResult | undefined, run_id: string): Message | undefined {
  const rows = (found?.rows ?? []) as unknown as MessageRow[];
  const said = rows.filter((row) => row.role === "assistant" && row.position !== null);
  const last = said.reduce<MessageRow | undefined>(
    (a, b) => (Number(a?.position ?? -1) > Number(b.position) ? a : b),
    undefined,
  );
  return last?.run_id === run_id ? toMessage(last) : undefined;
}

const selectLastWord = fixedQuery<{ run_id: string }>(({ q }, { run_id }) =>
  q
    .selectFrom("messages")
    .selectAll()
    .where("session_id", "=", q.selectFrom("runs").select("runs.session_id").where("runs.id", "=", run_id))
    .where("position", "is not", null)
    .where("role", "=", "assistant")
    .orderBy("position", "desc")
    .limit(ONE),
);

const selectQueued = fixedQuery<{ session_id: string }>(({ q }, { session_id }) =>
  q
    .selectFrom("runs")
    .select("id")
    .where("session_id", "=", session_id)
    .where(IS_OPEN)
    .where(sql<boolean>`status = 'queued'`)
    .limit(ONE),
);
