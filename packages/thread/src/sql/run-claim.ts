import { type RawBuilder, sql } from "kysely";
import type { ClaimedRun, Lease, RunStore } from "../run-store.ts";
import type { SqlContext } from "./context.ts";
import { claimReadable, readRow } from "./damaged-rows.ts";
import type { Database } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import { fixedQuery } from "./fixed-query.ts";
import { requireLease, requireTexts } from "./input-checks.ts";
import { storedJson } from "./json-text.ts";
import { requireKnown } from "./known-names.ts";
import { runFence } from "./lease-fence.ts";
import { isOver } from "./lease-time.ts";
import { ONE } from "./limit.ts";
import { type RunColumns, type RunRow, toRun } from "./run-row.ts";
import { type RunSessionRow, runSessionColumns, toRunSession } from "./run-session-row.ts";
import { scopeText } from "./scope.ts";
import { all, type Statement, statement, type Tx } from "./statement.ts";

type Claim = Parameters<RunStore["claimRun"]>[0];

interface Candidate {
  pk: number;
  thread: number;
  session_id: string;
  head: string | null;
}

export async function claimRun(ctx: SqlContext, claim: Claim): Promise<ClaimedRun | null> {
  requireKnown("A run", claim, ["owner", "lease_ms", "session_id", "except_scopes", "except_runs"]);
  requireLease("lease_ms", claim.lease_ms);
  if (claim.except_runs !== undefined) requireTexts("except_runs", claim.except_runs);
  const { except_runs = [] } = claim;
  return claimReadable(
    (damaged) => ctx.db.transaction(() => claimFirst(ctx, { ...claim, except_runs: [...except_runs, ...damaged] })),
    (claimed) => claimed === null,
  );
}

function* claimFirst(ctx: SqlContext, claim: Claim): Tx<ClaimedRun | null> {
  const { db } = ctx;
  const { owner, lease_ms } = claim;
  const [found] = yield* all([selectCandidate(db, claim)]);
  const candidate = found?.rows[0] as unknown as Candidate | undefined;
  if (!candidate) return null;
  const { pk, thread, session_id, head } = candidate;
  const [leased, started, counted, session] = yield* all([
    takeLease(db, { thread, owner, lease_ms }),
    startAttempt(db, { pk, thread, head, now: ctx.now() }),
    lastOrdinal(db, { pk }),
    selectRunSession(db, { session_id }),
  ]);
  const run = started?.rows[0] as unknown as RunRow;
  const last = counted?.rows[0]?.last as number | null;
  const epoch = leased?.rows[0]?.epoch as number;
  const of = session?.rows[0] as unknown as RunSessionRow;
  return readRow(run.id, () => toClaimed(run, of, { epoch, next_ordinal: last === null ? 0 : last + 1 }));
}

export function toClaimed(
  run: RunColumns,
  of: RunSessionRow,
  lease: Pick<ClaimedRun, "epoch" | "next_ordinal">,
): ClaimedRun {
  const session = toRunSession(run.session_id, of);
  return {
    run_id: run.id,
    run: toRun(run),
    session,
    scopes: session.scopes,
    thread_id: session.thread_id,
    input: storedJson(run.input, `The input of run ${run.id}`),
    callback_url: run.callback_url,
    abort_requested: run.abort_requested_at !== null,
    stalled_attempts: run.stalled_attempts,
    ...lease,
  };
}

/**
 * Takes the run's row and its thread's, and passes over those that another worker has in hand. Both are read anew once
 * they are locked, so what is asked of them here still holds at the end of the transaction. The earlier runs are not;
 * but that none of them is open can't become untrue, since a run that has ended stays so.
 */
function candidates(
  { q, dialect }: Pick<Database, "q" | "dialect">,
  session_id: RawBuilder<string>,
  except_runs: RawBuilder<string>,
) {
  return q
    .selectFrom("runs as r")
    .innerJoin("threads as t", "t.pk", "r.thread")
    .select(["r.pk", "r.thread", "r.session_id", "t.head"])
    .where(sql<boolean>`r.status in ('queued', 'running')`)
    .where("t.deleted_at", "is", null)
    .where(isFree("t", dialect))
    .where(sql<boolean>`r.id not in (${eachOf(dialect, except_runs)})`)
    .where("r.pk", "=", firstInLine(session_id))
    .orderBy("r.pk")
    .limit(ONE)
    .modifyEnd(sql.raw(dialect.skipLocked));
}

/**
 * Of a session's runs that have not ended. As the least of them, and not as one with none before it: PostgreSQL takes that
 * for a join, and by a plan it made when there were few runs it compares each with each. Literals, so that the engines see
 * that their indexes of open runs fit: else every claim would read all history.
 */
function firstInLine(session_id: RawBuilder<string>): RawBuilder<number> {
  return sql<number>`(select min(e.pk) from runs e where e.session_id = ${session_id}
    and e.status in ('queued', 'running', 'waiting_for_approval'))`;
}

const OF_ANY = sql.ref<string>("r.session_id");
const selectFirst = fixedQuery<{ except: string }>((db, { except }) => candidates(db, OF_ANY, sql<string>`${except}`));
const selectOfSession = fixedQuery<{ session_id: string; except: string }>((db, { session_id, except }) =>
  candidates(db, sql<string>`${session_id}`, sql<string>`${except}`),
);

function selectCandidate(db: Database, { session_id, except_scopes = [], except_runs = [] }: Claim): Statement {
  const except = JSON.stringify(except_runs);
  if (except_scopes.length === 0)
    return session_id === undefined ? selectFirst(db, { except }) : selectOfSession(db, { session_id, except });
  const of = session_id === undefined ? OF_ANY : sql<string>`${session_id}`;
  const some = candidates(db, of, sql<string>`${except}`);
  return statement(some.where("r.scope", "not in", except_scopes.map(scopeText)));
}

/** The texts of a list in JSON. */
function eachOf({ eachText }: Dialect, list: RawBuilder<string>): RawBuilder<unknown> {
  const [before = "", after = ""] = eachText.split("?");
  return sql`${sql.raw(before)}${list}${sql.raw(after)}`;
}

const takeLease = fixedQuery<{ thread: number; owner: string; lease_ms: number }>(({ q, dialect }, values) =>
  q
    .updateTable("threads")
    .set({
      epoch: sql<number>`epoch + 1`,
      lease_owner: values.owner,
      lease_until: sql<number>`${sql.raw(dialect.nowMs)} + ${values.lease_ms}`,
    })
    .where("pk", "=", values.thread)
    .returning("epoch"),
);

/** Nobody holds the thread. */
export function isFree(threads: string, dialect: Dialect): RawBuilder<boolean> {
  return sql<boolean>`${sql.raw(isOver(`${threads}.lease_until`, dialect.nowMs))}`;
}

/** An attempt counts as stalled when the one before it was cut off and the thread's head is still where that one began. */
const startAttempt = fixedQuery<{ pk: number; thread: number; head: string | null; now: string }>(({ q }, values) =>
  q
    .updateTable("runs")
    .set({
      status: "running",
      attempt: sql<number>`attempt + 1`,
      stalled_attempts: sql<number>`case when checkpoint_id is distinct from ${values.head} then 0
        when status = 'running' then stalled_attempts + 1 else stalled_attempts end`,
      checkpoint_id: values.head,
      epoch: q.selectFrom("threads").select("threads.epoch").where("threads.pk", "=", values.thread),
      started_at: sql<string>`coalesce(started_at, ${values.now})`,
    })
    .where("pk", "=", values.pk)
    .returningAll(),
);

const selectRunSession = fixedQuery<{ session_id: string }>(({ q }, { session_id }) =>
  q.selectFrom("sessions").select(runSessionColumns("sessions")).where("id", "=", session_id),
);

const lastOrdinal = fixedQuery<{ pk: number }>(({ q }, { pk }) =>
  q
    .selectFrom("events")
    .select((eb) => eb.fn.max("ordinal").as("last"))
    .where("run", "=", pk),
);

export async function renewLease(
  { db }: SqlContext,
  lease: Lease,
  lease_ms: number,
): Promise<"held" | "abort_requested" | "lost"> {
  requireLease("lease_ms", lease_ms);
  const until = sql<number>`${sql.raw(db.dialect.nowMs)} + ${sql.lit(lease_ms)}`;
  const renew = db.q.updateTable("threads").set({ lease_until: until }).where(runFence(lease)).returning("pk");
  const asked = db.q.selectFrom("runs").select("abort_requested_at").where("id", "=", lease.run_id);
  const [renewed, run] = await db.atomic([statement(renew), statement(asked)]);
  if (renewed?.rows.length !== 1) return "lost";
  return run?.rows[0]?.abort_requested_at ? "abort_requested" : "held";
}
