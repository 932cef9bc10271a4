import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { createAgent, fakeModel, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { LEASE } from "../src/checkpoint/lease.ts";
import { put, read } from "../src/conformance/checkpoint-line.ts";
import type { Database } from "../src/sql/database.ts";
import { createMessageStore } from "../src/sql/message-store.ts";
import { createRunStore } from "../src/sql/run-store.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { createToolJournal } from "../src/sql/tool-journal.ts";
import { countRows, savers } from "./checkpoint-database.ts";

const echo = tool(async ({ text }) => text, {
  name: "echo",
  description: "Echoes",
  schema: z.object({ text: z.string() }),
});

function agentModel(turns: number) {
  let model = fakeModel();
  for (let n = 0; n < turns; n++) {
    const calls = ["a", "b", "c"].map((id) => ({ id: `${n}${id}`, name: "echo", args: { text: id } }));
    model = model.respond(new AIMessage({ content: "calling", tool_calls: calls }));
  }
  return model.respond(new AIMessage("done"));
}

describe.each(savers)("flights to the database on $name", ({ run }) => {
  it.each(["sync", "async"] as const)(
    "a superstep, its writes and its checkpoint, costs at most two (%s)",
    (durability) => {
      const flights = { atomic: 0, transaction: 0, read: 0 };
      const counted = (db: Database): Database => ({
        ...db,
        atomic: (statements) => {
          flights.atomic++;
          return db.atomic(statements);
        },
        transaction: (body) => {
          flights.transaction++;
          return db.transaction(body);
        },
        readAll: (statements) => {
          flights.read++;
          return db.readAll(statements);
        },
      });
      return run(async ({ db, ctx, saver }) => {
        const { thread_id } = await createSessionStore(ctx).createSession({});
        const agent = createAgent({ model: agentModel(10), tools: [echo], checkpointer: saver });
        Object.assign(flights, { atomic: 0, transaction: 0, read: 0 });
        await agent.invoke({ messages: [new HumanMessage("go")] }, { configurable: { thread_id }, durability });
        const steps = await countRows(db, "checkpoints");
        expect(steps).toBeGreaterThan(20);
        expect(flights.atomic).toBeLessThanOrEqual(2 * steps);
        // The first checkpoint of a thread finds its messages' beginning; after that nothing is read or rebuilt.
        expect(flights.transaction).toBeLessThanOrEqual(1);
        expect(flights.read).toBeLessThanOrEqual(3);
      }, counted);
    },
  );

  it("what it writes is one statement where one can change several tables", () => {
    const statements: number[] = [];
    const counted = (db: Database): Database => ({
      ...db,
      atomic: (all) => {
        statements.push(all.length);
        return db.atomic(all);
      },
    });
    return run(async ({ db, saver }) => {
      const first = await put(saver, "t", { list: [] });
      statements.length = 0;
      const list = [{ text: "long enough to be stored on its own ".repeat(10) }];
      const written = saver.putWrites(first.config, [["list", list]], "task");
      const next = await put(saver, first, { list });
      await written;
      // The thread's row, the element, the checkpoint and the write.
      expect(statements).toEqual([db.dialect.changesInWith ? 1 : 4]);
      expect(await read(saver, next)).toEqual({ list });
    }, counted);
  });

  it("the intents of a step's tool calls are in the commit of what asks for them", () => {
    const writes: number[] = [];
    const counted = (db: Database): Database => ({
      ...db,
      atomic: (all, ...more) => {
        writes.push(all.length);
        return db.atomic(all, ...more);
      },
    });
    return run(async ({ ctx, saver }) => {
      const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
      const { claimed } = await createRunStore(ctx).createRun({ session_id, claim: { owner: "me", lease_ms: 60_000 } });
      if (!claimed) throw new Error("a run of a free session was not begun");
      const lease = { run_id: claimed.run_id, epoch: claimed.epoch, pipelined: true };
      const first = await put(saver, thread_id, { messages: [] }, { configurable: { [LEASE]: lease } });
      await saver.flush(thread_id, lease);
      await put(saver, first, { messages: [], n: 1 }, { configurable: { [LEASE]: lease } });
      writes.length = 0;
      const call = { thread_id, checkpoint_ns: "", lease, name: "echo", args: {}, on_crash: "never" } as const;
      const begin = (id: string) => createToolJournal(ctx).beginToolCall({ ...call, tool_call_id: id });
      await Promise.all(["a", "b"].map(begin));
      expect(writes).toHaveLength(1);
      await begin("c"); // nothing is on its way any more
      expect(writes).toHaveLength(2);
    }, counted);
  });

  it("of a very long list it looks at what was stored before while the database is at work, once", () => {
    const confirmed: boolean[] = [];
    const watched = (db: Database): Database => ({
      ...db,
      atomic: (all, writer, confirm) => {
        confirmed.push(confirm !== undefined);
        return db.atomic(all, writer, confirm);
      },
    });
    return run(async ({ db, ctx, saver, another }) => {
      const { id, thread_id } = await createSessionStore(ctx).createSession({});
      const list = Array.from({ length: 500 }, (_, n) => new HumanMessage({ id: `${n}`, content: `Message ${n}` }));
      const options = { signal: new AbortController().signal, durability: "sync" } as const;
      const first = await put(saver, thread_id, { messages: list }, options);
      const pieces = await countRows(db, "pieces");
      confirmed.length = 0;

      list.push(new HumanMessage({ id: "500", content: "One more" }));
      const second = await put(saver, first, { messages: list }, options);
      expect(confirmed).toEqual([db.isElsewhere]);
      expect(await countRows(db, "pieces")).toBe(pieces + 1);

      (list[250] as HumanMessage).content = "Changed";
      list.push(new HumanMessage({ id: "501", content: "And one" }));
      const third = await put(saver, second, { messages: list }, options);
      // What was on its way was taken back: of it no piece has remained.
      expect(confirmed.slice(1)).toEqual(db.isElsewhere ? [true] : []);
      expect(await countRows(db, "pieces")).toBe(pieces + 3);
      expect((await read(another(), third))?.["messages"]).toHaveProperty("250.content", "Changed");
      expect((await read(another(), second))?.["messages"]).toHaveProperty("250.content", "Message 250");
      const { messages } = await createMessageStore(ctx).getMessagesBySession(id, {
        order: "asc",
        limit: 1,
        offset: 250,
      });
      expect(messages).toMatchObject([{ content: "Changed" }]);
      const fourth = await put(saver, third, { messages: [...list, new HumanMessage("The end")] }, options);
      expect((await read(another(), fourth))?.["messages"]).toHaveLength(503);
    }, watched);
  });

  it("a thread that was empty when it was claimed is not read to find that out, and only once taken for it", () => {
    let reads = 0;
    const counted = (db: Database): Database => ({
      ...db,
      readAll: (...read) => {
        reads++;
        return db.readAll(...read);
      },
    });
    return run(async ({ ctx, saver, another }) => {
      const runs = createRunStore(ctx);
      const begin = async () => {
        const { id: session_id } = await createSessionStore(ctx).createSession({});
        const { claimed } = await runs.createRun({ session_id, claim: { owner: "worker", lease_ms: 60_000 } });
        if (!claimed) throw new Error("a run of a free session was not begun");
        const lease = { run_id: claimed.run_id, epoch: claimed.epoch, empty_session: session_id };
        const signal = new AbortController().signal;
        return { thread_id: claimed.thread_id, options: { configurable: { [LEASE]: lease }, signal } };
      };
      const { thread_id, options } = await begin();
      const config = { ...options, configurable: { thread_id, ...options.configurable } };
      reads = 0;
      expect(await saver.getTuple(config)).toBeUndefined();
      const first = await put(saver, thread_id, { messages: [new HumanMessage({ id: "1", content: "Hi" })] }, options);
      expect(reads).toBe(0);
      expect((await saver.getTuple(config))?.checkpoint.id).toBe(first.checkpoint.id);
      expect(reads).toBeGreaterThan(0);

      const wrong = await begin();
      await put(another(), wrong.thread_id, { messages: [] });
      expect(
        await saver.getTuple({
          ...wrong.options,
          configurable: { thread_id: wrong.thread_id, ...wrong.options.configurable },
        }),
      ).toBeUndefined();
      await expect(put(saver, wrong.thread_id, { messages: [] }, wrong.options)).rejects.toMatchObject({
        code: "concurrent_writer",
      });
    }, counted);
  });
});

describe.each(savers)("the tool journal on $name", ({ run }) => {
  it("takes one flight for an intent and one for a result", () => {
    const flights: string[] = [];
    const counted = (db: Database): Database => ({
      ...db,
      atomic: (statements) => {
        flights.push("atomic");
        return db.atomic(statements);
      },
      transaction: (body) => {
        flights.push("transaction");
        return db.transaction(body);
      },
    });
    return run(async ({ ctx }) => {
      const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
      const runs = createRunStore(ctx);
      await runs.createRun({ session_id });
      const lease = await runs.claimRun({ owner: "test", lease_ms: 60_000 });
      if (!lease) throw new Error("the run was not given");
      flights.length = 0;
      const [journal, key] = [createToolJournal(ctx), { thread_id, checkpoint_ns: "", tool_call_id: "call" }];
      await journal.beginToolCall({ ...key, lease, name: "charge", args: {}, on_crash: "never" });
      await journal.finishToolCall(key, lease, { outcome: "ok", result: 1 });
      expect(flights).toEqual(["atomic", "atomic"]);
    }, counted);
  });
});
