import type { Scope } from "@cognition/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { RunStore } from "../run-store.ts";
import type { SqlContext } from "./context.ts";
import { storedJson } from "./json-text.ts";
import { requireKnown } from "./known-names.ts";
import { runNotFound } from "./lease-fence.ts";
import { atMost } from "./limit.ts";
import { madeBefore } from "./made-before.ts";
import { pageBounds } from "./page-bounds.ts";
import { requestAbort } from "./run-abort.ts";
import { createRun } from "./run-admission.ts";
import { findAdmittedRun } from "./run-admitted.ts";
import { claimRun, renewLease } from "./run-claim.ts";
import { finishRun } from "./run-end.ts";
import { releaseRun, resumeRun, suspendRun } from "./run-pause.ts";
import { RUN_FIELDS, toRun } from "./run-row.ts";
import { listWaitingRuns } from "./run-waiting.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { CLAIMABLE } from "./wake-ups.ts";

export function createRunStore(ctx: SqlContext): RunStore {
  const { db } = ctx;
  return {
    createRun: (run) => createRun(ctx, run),
    findAdmittedRun: (session_id, idempotency) => findAdmittedRun(ctx, session_id, idempotency),
    getRun: async (run_id, scope) => {
      const query = db.q.selectFrom("runs").select(RUN_FIELDS).where("id", "=", run_id);
      const own = scopeTextOf(scope);
      const [row] = await db.read(own === undefined ? query : query.where("scope", "=", own), own);
      if (!row) throw runNotFound(run_id);
      return toRun(row);
    },
    getRunInput: async (run_id) => {
      const [row] = await db.read(db.q.selectFrom("runs").select("input").where("id", "=", run_id));
      if (!row) throw runNotFound(run_id);
      return storedJson(row.input, `The input of run ${run_id}`);
    },
    listRuns: async (session_id, { limit, offset, before, ...filter } = {}) => {
      const page = pageBounds({ limit, offset });
      const older = before === undefined ? [] : [madeBefore("runs", "runs", before)];
      const query = db.q
        .selectFrom("runs")
        .select(RUN_FIELDS)
        .where((eb) => eb.and([...conditions(session_id, filter), ...older]));
      const newest = query.orderBy("pk", "desc").limit(atMost(page.limit)).offset(page.offset);
      return (await db.read(newest, scopeTextOf(filter.scope))).map(toRun);
    },
    countRuns: async (session_id, filter = {}) => {
      const query = db.q.selectFrom("runs").select((eb) => eb.fn.countAll<number>().as("total"));
      const counted = query.where((eb) => eb.and(conditions(session_id, filter)));
      const [row] = await db.read(counted, scopeTextOf(filter.scope));
      return row?.total ?? 0;
    },
    countQueuedRuns: async () => {
      // Both statuses are literals, so that the index of what can be claimed fits.
      const queued = sql<boolean>`status in ('queued', 'running') and status = 'queued'`;
      const query = db.q.selectFrom("runs").select((eb) => eb.fn.countAll<number>().as("total"));
      const [row] = await db.read(query.where(queued));
      return row?.total ?? 0;
    },
    claimRun: (claim) => claimRun(ctx, claim),
    renewLease: (lease, lease_ms) => renewLease(ctx, lease, lease_ms),
    releaseRun: (lease) => releaseRun(ctx, lease),
    suspendRun: (...suspension) => suspendRun(ctx, ...suspension),
    resumeRun: (run_id, input, attempt) => resumeRun(ctx, run_id, input, attempt),
    listWaitingRuns: (filter) => listWaitingRuns(ctx, filter),
    requestAbort: (session_id, run_id, delivery) => requestAbort(ctx, session_id, run_id, delivery),
    watchRuns: async (onNews) =>
      db.wakeUps.listen((news) => {
        const told = news === "any" ? [CLAIMABLE] : news;
        for (const id of told) onNews(id === CLAIMABLE ? null : id);
      }),
    finishRun: (lease, end) => finishRun(ctx, lease, end),
  };
}

function conditions(session_id: string, filter: { scope?: Scope; status?: string }): RawBuilder<SqlBool>[] {
  requireKnown("Runs", filter, ["scope", "status"]);
  const { scope, status } = filter;
  return [
    sql<SqlBool>`session_id = ${session_id}`,
    ...(scope === undefined ? [] : [sql<SqlBool>`scope = ${scopeText(scope)}`]),
    ...(status === undefined ? [] : [sql<SqlBool>`status = ${status}`]),
  ];
}
