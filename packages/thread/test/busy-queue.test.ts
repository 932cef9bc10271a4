import type { Session } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { LEASE_MS } from "../src/conformance/started-run.ts";
import { createRunStore } from "../src/sql/run-store.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";
import { counting, NOTHING } from "./counted-database.ts";
import { fastest } from "./fastest.ts";

const FEW = 200;
const MANY = 4000;

/** All at once: one after the other they would take longer than what is tested. */
async function queueRuns({ db }: OpenDatabase, { id, thread_id }: Session, count: number): Promise<void> {
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})`;
  const sql = `${numbers} insert into runs (id, session_id, thread, scope, status, agent_name, input, created_at)
    select '${id}.${count}.' || n, '${id}', t.pk, t.scope, 'queued', 'a', '{}', '' from numbers, threads t
    where t.thread_id = '${thread_id}'`;
  await db.atomic([{ sql, params: [] }]);
}

describe.each(savers)("a session with many runs in line, on $name", ({ run }) => {
  it("takes another one without reading all of them", () => {
    const cost = { ...NOTHING };
    return run(
      async (open) => {
        const session = await createSessionStore(open.ctx).createSession({});
        const admit = async () => {
          Object.assign(cost, NOTHING);
          await createRunStore(open.ctx).createRun({ session_id: session.id });
          return cost.rows;
        };
        await admit();
        const behindOne = await admit();
        await queueRuns(open, session, FEW);
        expect(behindOne).toBeGreaterThan(0);
        expect(await admit()).toBe(behindOne);
      },
      (db) => counting(db, cost),
    );
  });

  it(`begins the next one of ${MANY} in no more than ${MANY / FEW} times what one of ${FEW} takes, by the same plan`, () =>
    run(async (open) => {
      const session = await createSessionStore(open.ctx).createSession({});
      const runs = createRunStore(open.ctx);
      const whoHasIt = () => open.db.read(open.db.q.selectFrom("threads").selectAll());
      const claim = async () =>
        expect((await runs.claimRun({ owner: "worker", lease_ms: LEASE_MS })) ?? (await whoHasIt())).toMatchObject(
          first,
        );
      // The same run is the next one again. Not by a lease that is over at once: a clock that is set back meanwhile, as on
      // a machine that was paused, would make it last.
      const free = () => open.db.atomic([{ sql: "update threads set lease_until = null", params: [] }]);
      const { run } = await runs.createRun({ session_id: session.id });
      const first = { run_id: run.id };
      await queueRuns(open, session, FEW);
      const few = await fastest(open.db, claim, free);
      await queueRuns(open, session, MANY);
      expect((await fastest(open.db, claim, free)) / few).toBeLessThan((3 * MANY) / FEW);
    }));

  it("is looked at once for whether its next one may begin", () =>
    run(async (open) => {
      const session = await createSessionStore(open.ctx).createSession({});
      const runs = createRunStore(open.ctx);
      const claim = async () =>
        expect(await runs.claimRun({ owner: "worker", lease_ms: LEASE_MS, session_id: session.id })).toBeNull();
      await runs.createRun({ session_id: session.id, claim: { owner: "worker", lease_ms: LEASE_MS } });
      await queueRuns(open, session, FEW);
      const few = await fastest(open.ctx.db, claim);
      await queueRuns(open, session, 5 * MANY);
      expect((await fastest(open.ctx.db, claim)) / few).toBeLessThan(10);
    }));
});
