import { HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { sql } from "kysely";
import { describe, expect, it, vi } from "vitest";
import { PieceDecoder } from "../src/checkpoint/piece-decoder.ts";
import { put } from "../src/conformance/checkpoint-line.ts";
import { createMessageProjection } from "../src/sql/message-projection.ts";
import { createMessageStore } from "../src/sql/message-store.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { statement } from "../src/sql/statement.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";

const UNTOUCHED = { repaired: 0, added: 0, removed: 0 };

async function conversation({ ctx, saver }: OpenDatabase) {
  const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
  const human = (id: string) => new HumanMessage({ id, content: `says ${id}` });
  const first = await put(saver, thread_id, { messages: ["a", "b"].map((id) => human(id)) });
  const next = await put(saver, first, { messages: ["a", "b", "c"].map((id) => human(id)) });
  const { config } = await put(saver, next, { messages: ["b", "c", "d"].map((id) => human(id)) });
  const { listMessagesForSession } = createMessageStore(ctx);
  const { rebuildMessages } = createMessageProjection(ctx);
  return {
    session_id,
    config,
    list: () => listMessagesForSession(session_id),
    rebuild: () => rebuildMessages(session_id),
  };
}

describe.each(savers)("a rebuild of a long conversation on $name", ({ run }) => {
  it("looks at what each step has added, and not at all the messages again", () =>
    run(async ({ ctx, saver, another }) => {
      const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
      const messages: HumanMessage[] = [];
      let at: string | Awaited<ReturnType<typeof put>> = thread_id;
      for (let n = 0; n < 150; n++) {
        messages.push(new HumanMessage({ id: `${n}`, content: `says ${n}` }));
        // Another process that has not read the thread stores all of them anew: then they all are looked at, once or twice.
        at = await put(n % 50 === 49 ? another() : saver, at, { messages: [...messages] });
      }
      const looked = vi.spyOn(PieceDecoder.prototype, "list");
      const report = await createMessageProjection(ctx).rebuildMessages(session_id);
      const lengths = looked.mock.results.map(({ value }) => (value as unknown[]).length);
      looked.mockRestore();
      expect(report).toEqual({ checked: 150, ...UNTOUCHED });
      // All of them at every step would be 11,325.
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(1_000);
    }));
});

describe.each(savers)("a rebuild while a step is not over, on $name", ({ run }) => {
  it("leaves the messages that a task wants removed as they are: they are in the state until the step ends", () =>
    run(async (open) => {
      const { config, list, rebuild } = await conversation(open);
      const before = await list();
      const removals = ["c", "__remove_all__"].map((id) => new RemoveMessage({ id }));
      await open.saver.putWrites(config, [["messages", removals]], "task");
      expect(await rebuild()).toEqual({ checked: 4, ...UNTOUCHED });
      expect(await list()).toEqual(before);
    }));
});

describe.each(savers)("rows of messages that someone has tampered with, on $name", ({ run }) => {
  it("are as they were after a rebuild, which says what it did; a second one does nothing", () =>
    run(async (open) => {
      const { db } = open;
      const { session_id, list, rebuild } = await conversation(open);
      const right = await list();
      expect(right.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
      const { q } = db;
      const mine = q.updateTable("messages").where("session_id", "=", session_id);
      const copyOf = async (id: string) => {
        const found = q.selectFrom("messages").selectAll().where("session_id", "=", session_id).where("id", "=", id);
        const { pk: _, ...row } = (await db.read(found))[0] as { pk: number; id: string; position: number | null };
        return { ...row, id: "copy", position: 9 };
      };
      const cases: [object, () => Promise<Parameters<typeof statement>[0]>][] = [
        [{ repaired: 1 }, async () => mine.set({ content: '"forged"' }).where("id", "=", "b")],
        [{ repaired: 1 }, async () => mine.set({ role: "system" }).where("id", "=", "c")],
        [{ repaired: 1 }, async () => mine.set({ left_state: null }).where("id", "=", "a")],
        [{ repaired: 1 }, async () => mine.set({ left_state: "x" }).where("id", "=", "d")],
        [{ repaired: 4 }, async () => mine.set({ position: sql<number>`5 - position` })],
        [{ repaired: 1 }, async () => mine.set({ position: null }).where("id", "=", "d")],
        [{ added: 1 }, async () => q.deleteFrom("messages").where("session_id", "=", session_id).where("id", "=", "b")],
        [{ added: 4 }, async () => q.deleteFrom("messages").where("session_id", "=", session_id)],
        [{ removed: 1 }, async () => q.insertInto("messages").values((await copyOf("b")) as never)],
        [{}, async () => q.updateTable("sessions").set({ message_count: 99 }).where("id", "=", session_id)],
      ];
      for (const [report, tamper] of cases) {
        await db.atomic([statement(await tamper())]);
        expect(await rebuild(), JSON.stringify(report)).toMatchObject({ ...UNTOUCHED, ...report });
        expect(await list()).toEqual(right);
        expect(await rebuild()).toEqual({ checked: 4, ...UNTOUCHED });
        const counted = await db.read(q.selectFrom("sessions").select("message_count").where("id", "=", session_id));
        expect(counted).toEqual([{ message_count: 4 }]);
      }
    }));
});
