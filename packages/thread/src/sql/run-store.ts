import type { RunStore } from "../storage.ts";
import type { SqlContext } from "./context.ts";
import { runNotFound } from "./lease-fence.ts";
import { pageBounds } from "./page-bounds.ts";
import { requestAbort } from "./run-abort.ts";
import { createRun } from "./run-admission.ts";
import { claimRun, renewLease } from "./run-claim.ts";
import { finishRun } from "./run-end.ts";
import { releaseRun, resumeRun, suspendRun } from "./run-pause.ts";
import { toRun } from "./run-row.ts";
import { scopeText } from "./scope.ts";

export function createRunStore(ctx: SqlContext): RunStore {
  const { db } = ctx;
  return {
    createRun: (run) => createRun(ctx, run),
    getRun: async (run_id, scope) => {
      const query = db.q.selectFrom("runs").selectAll().where("id", "=", run_id);
      const [row] = await db.read(scope === undefined ? query : query.where("scope", "=", scopeText(scope)));
      if (!row) throw runNotFound(run_id);
      return toRun(row);
    },
    listRuns: async (session_id, { scope, ...page } = {}) => {
      const { limit, offset } = pageBounds(page);
      const query = db.q.selectFrom("runs").selectAll().where("session_id", "=", session_id);
      const visible = scope === undefined ? query : query.where("scope", "=", scopeText(scope));
      return (await db.read(visible.orderBy("pk", "desc").limit(limit).offset(offset))).map(toRun);
    },
    claimRun: (claim) => claimRun(ctx, claim),
    renewLease: (lease, lease_ms) => renewLease(ctx, lease, lease_ms),
    releaseRun: (lease) => releaseRun(ctx, lease),
    suspendRun: (lease, events, delivery, usage) => suspendRun(ctx, lease, events, delivery, usage),
    resumeRun: (run_id, input) => resumeRun(ctx, run_id, input),
    requestAbort: (session_id, run_id, delivery) => requestAbort(ctx, session_id, run_id, delivery),
    finishRun: (lease, end) => finishRun(ctx, lease, end),
  };
}
