import { describe, expect, it } from "vitest";
import { endOf, NO_TIME } from "../src/conformance/started-run.ts";
import { type SqlContext, systemContext } from "../src/sql/context.ts";
import { createRunStore } from "../src/sql/run-store.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { changes } from "../src/sql/statement.ts";
import { databases } from "./databases.ts";

function moveHead({ db }: SqlContext, thread_id: string, head: string): Promise<number> {
  return db.transaction(() => changes(db.q.updateTable("threads").set({ head }).where("thread_id", "=", thread_id)));
}

describe.each(databases)("a run's progress on $name", ({ create }) => {
  it("attempts that reach a new checkpoint are not stalled; the run says where it stands", async () => {
    const { open, remove } = await create();
    const ctx = systemContext(open());
    const runs = createRunStore(ctx);
    const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
    await moveHead(ctx, thread_id, "of an earlier run");
    const { run } = await runs.createRun({ session_id });
    const next = async (lease_ms: number) => {
      const lease = await runs.claimRun({ owner: "w", lease_ms });
      if (!lease) throw new Error("there was a run to claim");
      return lease;
    };
    const counts: number[] = [];
    for (const head of [undefined, undefined, "c1", undefined, "c2"]) {
      counts.push((await next(NO_TIME)).stalled_attempts);
      if (head) await moveHead(ctx, thread_id, head);
    }
    const lease = await next(60_000);
    counts.push(lease.stalled_attempts);
    expect(counts).toEqual([0, 1, 2, 0, 1, 0]);
    expect(lease.run).toMatchObject({ attempt: 6, checkpoint_id: "c2" });
    await moveHead(ctx, thread_id, "c3");
    expect((await runs.finishRun(lease, endOf("succeeded"))).run).toMatchObject({ id: run.id, checkpoint_id: "c3" });
    ctx.feed.close();
    await ctx.db.close();
    await remove();
  });
});
