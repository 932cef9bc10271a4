import type { Interrupt } from "@cognition/contract";
import { sql } from "kysely";
import type { RunStore, WaitingRun } from "../run-store.ts";
import type { SqlContext } from "./context.ts";
import { storedJson } from "./json-text.ts";
import { requireKnown } from "./known-names.ts";
import { RUN_FIELDS, toRun } from "./run-row.ts";
import { scopeTextOf } from "./scope.ts";

type Filter = NonNullable<Parameters<RunStore["listWaitingRuns"]>[0]>;

/** What a run asks is what its last `interrupt` said; a partial answer is followed by another with the rest. */
const LAST_INTERRUPT = sql<number>`(select e.seq from events e
  where e.thread = runs.thread and e.run = runs.pk and e.event = 'interrupt' order by e.seq desc limit 1)`;

/** The status is a literal, so that the index of open runs fits. */
const IS_WAITING = sql<boolean>`runs.status in ('queued', 'running', 'waiting_for_approval')
  and runs.status = 'waiting_for_approval'`;

export async function listWaitingRuns({ db }: SqlContext, filter: Filter = {}): Promise<WaitingRun[]> {
  requireKnown("Waiting runs", filter, ["scope", "session_id"]);
  let query = db.q
    .selectFrom("runs")
    .innerJoin("events", (join) =>
      join.onRef("events.thread", "=", "runs.thread").on("events.seq", "=", LAST_INTERRUPT),
    )
    .select(RUN_FIELDS.map((field) => `runs.${field}` as const))
    .select(["events.data as asked", "events.created_at as waiting_since"])
    .where(IS_WAITING);
  const own = scopeTextOf(filter.scope);
  if (own !== undefined) query = query.where("runs.scope", "=", own);
  if (filter.session_id !== undefined) query = query.where("runs.session_id", "=", filter.session_id);
  const found = await db.read(query.orderBy("events.created_at").orderBy("runs.pk"), own);
  return found.map(({ asked, waiting_since, ...row }) => ({
    run: toRun(row),
    interrupts: (storedJson(asked, `What run ${row.id} asked`) as { interrupts: Interrupt[] }).interrupts,
    waiting_since,
  }));
}
