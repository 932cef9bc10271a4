import { AppError } from "@cognition/contract";
import { HumanMessage } from "@langchain/core/messages";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { LEASE, type ProjectionRepair, type WriterLease } from "../src/checkpoint/lease.ts";
import { type Point, put } from "../src/conformance/checkpoint-line.ts";
import { endOf } from "../src/conformance/started-run.ts";
import { createMessageProjection } from "../src/sql/message-projection.ts";
import { createMessageStore } from "../src/sql/message-store.ts";
import { createRunStore } from "../src/sql/run-store.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { type Statement, statement } from "../src/sql/statement.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";

const human = (id: string) => new HumanMessage({ id, content: `says ${id}` });

/** A session that has said `before`, and a run on it that has added `during`, in two checkpoints. */
async function runningRun({ ctx, saver }: OpenDatabase) {
  const { createRun, claimRun, finishRun, getRun } = createRunStore(ctx);
  const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
  let at: Point | string = thread_id;
  const said: HumanMessage[] = [];
  const say = async (ids: string[], configurable?: Record<string, unknown>) => {
    said.push(...ids.map(human));
    at = await put(saver, at, { messages: [...said] }, configurable ? { configurable } : {});
  };
  await say(["a", "b"]);
  await createRun({ session_id });
  const claimed = await claimRun({ owner: "worker", lease_ms: 60_000, session_id });
  if (!claimed) throw new Error("there was a run to claim");
  const repairs: ProjectionRepair[] = [];
  const lease: WriterLease = {
    run_id: claimed.run_id,
    epoch: claimed.epoch,
    repaired: (repair) => repairs.push(repair),
  };
  await say(["c"], { [LEASE]: lease });
  await say(["d", "e"], { [LEASE]: lease });
  const { listMessagesForSession } = createMessageStore(ctx);
  return {
    ...{ session_id, lease, repairs, finishRun, getRun },
    /** In a checkpoint that is still on its way when this returns. */
    sayLast: async (id: string) => {
      lease.pipelined = true;
      await say([id], { [LEASE]: lease });
    },
    list: () => listMessagesForSession(session_id),
    rebuild: () => createMessageProjection(ctx).rebuildMessages(session_id),
  };
}

type Damage = (db: OpenDatabase["db"], session_id: string) => Statement;

const messages = ({ q }: OpenDatabase["db"], session_id: string) =>
  q.updateTable("messages").where("session_id", "=", session_id);

const DAMAGES: Record<string, { damage: Damage; report: object }> = {
  "another content": {
    damage: (db, id) => statement(messages(db, id).set({ content: '"forged"' }).where("id", "=", "d")),
    report: { repaired: 1, added: 0, removed: 0 },
  },
  "another role": {
    damage: (db, id) => statement(messages(db, id).set({ role: "system" }).where("id", "=", "c")),
    report: { repaired: 1, added: 0, removed: 0 },
  },
  "two that changed places": {
    damage: (db, id) =>
      statement(messages(db, id).set({ position: sql<number>`9 - position` }).where("id", "in", ["d", "e"])),
    report: { repaired: 2, added: 0, removed: 0 },
  },
  "one marked as gone": {
    damage: (db, id) => statement(messages(db, id).set({ left_state: "x" }).where("id", "=", "e")),
    report: { repaired: 1, added: 0, removed: 0 },
  },
  "one of the run deleted": {
    damage: (db, id) => statement(db.q.deleteFrom("messages").where("session_id", "=", id).where("id", "=", "d")),
    report: { repaired: 0, added: 1, removed: 0 },
  },
  "one from before the run deleted": {
    damage: (db, id) => statement(db.q.deleteFrom("messages").where("session_id", "=", id).where("id", "=", "a")),
    report: { repaired: 0, added: 1, removed: 0 },
  },
  "a copy": {
    damage: ({ q }, id) =>
      statement(
        q
          .insertInto("messages")
          .columns([
            ...(["session_id", "id", "scope", "position", "role", "content", "tool_calls", "metadata"] as const),
            ...(["checkpoint_id", "created_at"] as const),
          ])
          .expression(
            q
              .selectFrom("messages")
              .select(["session_id", sql<string>`'copy'`.as("id"), "scope", sql<number>`position + 9`.as("position")])
              .select(["role", "content", "tool_calls", "metadata", "checkpoint_id", "created_at"])
              .where("session_id", "=", id)
              .where("id", "=", "e"),
          ),
      ),
    report: { repaired: 0, added: 0, removed: 1 },
  },
  "another count": {
    damage: ({ q }, id) => statement(q.updateTable("sessions").set({ message_count: 99 }).where("id", "=", id)),
    report: { repaired: 0, added: 0, removed: 0 },
  },
};

describe.each(savers)("rows of messages that somebody damages during a run, on $name", ({ run }) => {
  it.each(Object.entries(DAMAGES))("are right when it has ended, and the repair is told: %s", (_, case_) =>
    run(async (open) => {
      const { session_id, lease, repairs, finishRun, getRun, list, rebuild } = await runningRun(open);
      const right = await list();
      expect(right.map(({ id }) => id)).toEqual(["a", "b", "c", "d", "e"]);
      await open.db.atomic([case_.damage(open.db, session_id)]);
      await finishRun(lease, endOf("succeeded"));
      expect(await getRun(lease.run_id)).toMatchObject({ status: "succeeded" });
      expect(repairs).toMatchObject([{ session_id, outcome: case_.report }]);
      expect(await list()).toEqual(right);
      const { db } = open;
      const counted = db.q.selectFrom("sessions").select("message_count").where("id", "=", session_id);
      expect(await db.read(counted)).toEqual([{ message_count: 5 }]);
      expect(await rebuild()).toMatchObject({ repaired: 0, added: 0, removed: 0 });
    }),
  );

  it.each(Object.entries(DAMAGES))("also where its last step is stored with its end: %s", (_, case_) =>
    run(async (open) => {
      const { session_id, lease, repairs, finishRun, getRun, sayLast, list, rebuild } = await runningRun(open);
      const right = await list();
      await open.db.atomic([case_.damage(open.db, session_id)]);
      await sayLast("f");
      await finishRun(lease, endOf("succeeded"));
      expect(await getRun(lease.run_id)).toMatchObject({ status: "succeeded" });
      expect(repairs).toHaveLength(1);
      expect((await list()).map(({ id, content }) => [id, content])).toEqual([
        ...right.map(({ id, content }) => [id, content]),
        ["f", "says f"],
      ]);
      expect(await rebuild()).toMatchObject({ repaired: 0, added: 0, removed: 0 });
    }),
  );

  it("that nobody has touched are left alone", () =>
    run(async (open) => {
      const { lease, repairs, finishRun, sayLast } = await runningRun(open);
      await sayLast("f");
      await finishRun(lease, endOf("succeeded"));
      expect(repairs).toEqual([]);
    }));

  it.each(["alone", "with its last step"])(
    "while the storage is away before they are rebuilt the run stays, and ends with them right: %s",
    (stored) =>
      run(async (open) => {
        const { session_id, lease, repairs, finishRun, getRun, sayLast, list, rebuild } = await runningRun(open);
        const { db } = open;
        await db.atomic([statement(messages(db, session_id).set({ content: '"forged"' }).where("id", "=", "d"))]);
        if (stored !== "alone") await sayLast("f");
        const { transaction } = db;
        const away = new AppError("storage_unavailable", "the connection was lost");
        db.transaction = async (body, writer) => {
          // Of the transactions of an end only the rebuild has no writer.
          if (writer === undefined) throw away;
          return transaction(body, writer);
        };
        await expect(finishRun(lease, endOf("succeeded"))).rejects.toBe(away);
        db.transaction = transaction;
        expect(await getRun(lease.run_id)).toMatchObject({ status: "running" });
        expect(repairs).toEqual([]);
        await finishRun(lease, endOf("succeeded"));
        expect(await getRun(lease.run_id)).toMatchObject({ status: "succeeded" });
        expect(repairs).toMatchObject([{ session_id, outcome: { repaired: 1 } }]);
        expect((await list()).map(({ content }) => content)).not.toContain("forged");
        expect(await rebuild()).toMatchObject({ repaired: 0, added: 0, removed: 0 });
      }),
  );

  it("a run whose messages can't be rebuilt ends all the same, and that is told", () =>
    run(async (open) => {
      const { session_id, lease, repairs, finishRun, getRun } = await runningRun(open);
      const { db } = open;
      const { q } = db;
      await db.atomic([
        statement(messages(db, session_id).set({ content: '"forged"' }).where("id", "=", "d")),
        statement(q.updateTable("checkpoints").set({ body: new TextEncoder().encode("no checkpoint") })),
      ]);
      await finishRun(lease, endOf("succeeded"));
      expect(await getRun(lease.run_id)).toMatchObject({ status: "succeeded" });
      expect(repairs).toMatchObject([{ session_id, outcome: { code: "corrupt_data" } }]);
    }));
});
