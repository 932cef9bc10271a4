import { join } from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { createDatabase } from "../../../testing/database.ts";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import { put, read, type Values } from "../src/conformance/checkpoint-line.ts";
import { openStorage } from "../src/open-storage.ts";
import { loadRelease, writeRelease } from "./release-database.ts";

const FIRST = 3;
const STORED = 3;

/** What the first release was given to store, as its n-th state. */
function stateOf(n: number): Values {
  const numbers = Array.from({ length: 300 + n }, (_, i) => i);
  return {
    list: numbers.map((i) => `text ${i}`),
    record: Object.fromEntries(numbers.map((i) => [`key ${i}`, { i, of: "a record" }])),
    map: new Map(numbers.map((i) => [i, { i }])),
    set: new Set(numbers.map((i) => `member ${i}`)),
    odd: [new Date(n), 10n ** 30n, new Uint8Array([0, 255, n]), Number.NaN, undefined, -0],
    long: `${"a long text ".repeat(500)}${n}`,
  };
}

describe.each(["sqlite", "postgres"])("on %s", (engine) => {
  it("states that the first release stored come back as they went in, and go on", async () => {
    const dir = createMemoryDir();
    onTestFinished(() => dir.remove());
    let uri = join(dir.path, "state.db");
    writeRelease(FIRST, uri);
    if (engine === "postgres") {
      const database = await createDatabase(inject("postgresUrl"));
      onTestFinished(database.drop);
      await loadRelease(FIRST, uri, database.url);
      uri = database.url;
    }
    const storage = await openStorage({ uri, pool: { min: 0 } });
    onTestFinished(() => storage.close());
    const saver = await storage.getCheckpointer();
    const thread = { configurable: { thread_id: "state", checkpoint_ns: "" } };
    const states: Values[] = [];
    for await (const { checkpoint } of saver.list(thread)) states.unshift(checkpoint.channel_values);
    expect(states).toEqual(Array.from({ length: STORED }, (_, n) => stateOf(n)));
    const newest = await saver.getTuple(thread);
    if (!newest) throw new Error("the thread has no checkpoint");
    expect(newest.pendingWrites).toEqual([["task", "list", stateOf(STORED)["list"]]]);
    const next = await put(saver, newest, stateOf(STORED));
    expect(await read(saver, next)).toEqual(stateOf(STORED));
    expect(await read(saver, "state")).toEqual(stateOf(STORED));
  });
});
