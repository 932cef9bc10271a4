import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { LEASE } from "../src/checkpoint/lease.ts";
import { comparable, put, read } from "../src/conformance/checkpoint-line.ts";
import { claim, NO_TIME } from "../src/conformance/started-run.ts";
import { openStorage } from "../src/open-storage.ts";
import { databases } from "./databases.ts";

const KEEP = [
  "create table kept_threads as select * from threads",
  "create table kept_checkpoints as select * from checkpoints",
  "create table kept_pieces as select * from pieces",
];
const GO_BACK = [
  "delete from checkpoints where checkpoint_id not in (select checkpoint_id from kept_checkpoints)",
  "delete from pieces where id not in (select id from kept_pieces)",
  `update threads set head = (select head from kept_threads), checkpoint_seq = (select checkpoint_seq from kept_threads),
    event_seq = (select event_seq from kept_threads)`,
];

const said = (n: number) => new AIMessage({ id: `${n}`, content: `said ${n}` });

describe.each(databases)("a database that has lost its last commits, as a standby may have, on $name", ({ create }) => {
  it("takes no checkpoint that names what is gone: the run goes on from what is there, in the same process too", async () => {
    const { uri, open, remove } = await create();
    const db = open();
    const run = (statements: string[]) => db.atomic(statements.map((sql) => ({ sql, params: [] })));
    const [storage, other] = [await openStorage(uri), await openStorage(uri)];
    try {
      const saver = await storage.getCheckpointer();
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const { thread_id, ...lease } = await claim(storage, { lease_ms: NO_TIME });
      const leased = { configurable: { [LEASE]: lease } };
      const list = [said(0)];
      const first = await put(saver, thread_id, { list: [...list] }, leased);
      await run(KEEP);
      list.push(said(1));
      const lost = await put(saver, first, { list: [...list] }, leased);
      await run(GO_BACK);
      const next = put(saver, lost, { list: [...list, said(2)] }, leased);
      await expect(next).rejects.toMatchObject({ code: "stale_epoch", message: expect.stringContaining("no longer") });
      expect(await read(saver, thread_id)).toEqual(comparable({ list: [list[0]] }));

      const again = { configurable: { [LEASE]: await claim(storage) } };
      const values = { list: [...list, said(3)] };
      const point = await put(saver, first, values, again);
      expect(await read(await other.getCheckpointer(), point)).toEqual(comparable(values));
    } finally {
      await run(["kept_threads", "kept_checkpoints", "kept_pieces"].map((table) => `drop table if exists ${table}`));
      await Promise.all([storage.close(), other.close(), db.close()]);
      await remove();
    }
  });
});
