import { describe, expect, it } from "vitest";
import { endOf, LEASE_MS, token } from "../src/conformance/started-run.ts";
import { createEventLog } from "../src/sql/event-log.ts";
import { createRunStore } from "../src/sql/run-store.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";
import { fastest } from "./fastest.ts";

/** A session whose log is that of one run, and of others before and after it. */
async function runAmong({ ctx }: OpenDatabase, others: number): Promise<{ session_id: string; run_id: string }> {
  const { db } = ctx;
  const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
  const runs = createRunStore(ctx);
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${others})`;
  const fill = async () => {
    const insert = `${numbers} insert into events (thread, seq, event, data, created_at)
      select t.pk, t.event_seq + n, 'token', '{}', '' from numbers, threads t where t.thread_id = '${thread_id}'`;
    const count = `update threads set event_seq = event_seq + ${others} where thread_id = '${thread_id}'`;
    await db.atomic([
      { sql: insert, params: [] },
      { sql: count, params: [] },
    ]);
  };
  await fill();
  const { claimed } = await runs.createRun({ session_id, claim: { owner: "worker", lease_ms: LEASE_MS } });
  if (!claimed) throw new Error("a run of a free session was not begun");
  await runs.finishRun(claimed, endOf("succeeded", token("a"), token("b")));
  await fill();
  return { session_id, run_id: claimed.run_id };
}

describe.each(savers)("one run's events, on $name", ({ run }) => {
  it("are read and counted as fast in a log of 200,000 events as in one of 200", () =>
    run(async (open) => {
      const log = createEventLog(open.ctx);
      const read = async (place: { session_id: string; run_id: string }) => {
        expect((await log.readEvents(place)).events.map(({ event }) => event)).toEqual(["token", "token", "done"]);
        expect(await log.countEvents(place)).toMatchObject({ events: 3, folded: 0 });
      };
      const among100 = await runAmong(open, 100);
      const among100_000 = await runAmong(open, 100_000);
      const short = await fastest(open.ctx.db, () => read(among100));
      expect((await fastest(open.ctx.db, () => read(among100_000))) / short).toBeLessThan(10);
    }));
});
