import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyValue } from "./any-value.ts";
import { comparable, elsewhere, put, read } from "./checkpoint-line.ts";
import { expectSame } from "./expect-same.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { MESSAGES, REFUSED, SAMPLES } from "./sample-values.ts";
import { withStorage } from "./with-storage.ts";

const RUNS = 60;

/** What a graph keeps in its channels and what its tasks write, read back by another process. */
export function checkpointValueContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("values in channels and writes", () => {
    test("come back as they went in: samples, at the top and below", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      for (const [name, value] of SAMPLES) {
        const values = { top: value, list: [value, { value }], map: { deep: { deeper: { value } } } };
        const point = await put(saver, name, values);
        await saver.putWrites(point.config, Object.entries(values), "task");
        const tuple = await other.getTuple(point.config);
        expectSame(tuple?.checkpoint.channel_values, values, name);
        const written = Object.fromEntries(tuple?.pendingWrites?.map(([, channel, each]) => [channel, each]) ?? []);
        expectSame(written, values, name);
      }
    });

    test("messages of every class, alone and in lists, chunks too", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const messages = MESSAGES.map(([, message]) => message);
      const values = { messages, one: messages[0], sent: { args: { messages, extra: 1 } } };
      const point = await put(saver, "t", values);
      await saver.putWrites(point.config, [["messages", messages]], "task");
      const tuple = await (await elsewhere(storage, second)).getTuple(point.config);
      expect(comparable(tuple?.checkpoint.channel_values)).toStrictEqual(comparable(values));
      expect(comparable(tuple?.pendingWrites)).toStrictEqual([["task", "messages", comparable(messages)]]);
    });

    test("whatever they are made of, through put and putWrites", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      let thread = 0;
      await fc.assert(
        fc.asyncProperty(anyValue(), fc.array(anyValue(), { maxLength: 30 }), async (value, list) => {
          const first = await put(saver, `t${++thread}`, { value, list });
          await saver.putWrites(
            first.config,
            [
              ["value", value],
              ["list", list],
            ],
            "task",
          );
          const next = await put(saver, first, { value: [value], list: [...list, value] });
          const tuple = await other.getTuple(first.config);
          expectSame(tuple?.checkpoint.channel_values, { value, list });
          expectSame(tuple?.pendingWrites, [
            ["task", "value", value],
            ["task", "list", list],
          ]);
          expectSame(await read(other, next), { value: [value], list: [...list, value] });
        }),
        { numRuns: RUNS },
      );
    });
  });

  describe("values that can't be kept", () => {
    test("are refused by channel and path, nothing is half written, and the next put works", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const { signal } = new AbortController();
      const list = Array.from({ length: 30 }, (_, n) => ({ n, text: "some text" }));
      const first = await put(saver, "t", { list: [] }, { signal });
      for (const [name, value] of REFUSED) {
        const bad = { list, bad: { items: [{ ok: 1 }, { deep: { value } }] } };
        const refused = put(saver, first, bad, { signal });
        await expect(refused, name).rejects.toMatchObject({ code: "unserializable_value" });
        await expect(refused, name).rejects.toThrow(/channel bad\.items\[1\]\.deep\.value/);
        const write = saver.putWrites(
          { ...first.config, signal },
          [
            ["list", list],
            ["bad", [{ value }]],
          ],
          "task",
        );
        await expect(write, name).rejects.toMatchObject({ code: "unserializable_value" });
        await expect(write, name).rejects.toThrow(/write to bad\[0\]\.value/);
      }
      const tuple = await other.getTuple({ configurable: { thread_id: "t" } });
      expect(tuple?.checkpoint.id).toBe(first.checkpoint.id);
      expect(tuple?.pendingWrites).toEqual([]);
      const next = await put(saver, first, { list }, { signal });
      expect(await read(other, next)).toStrictEqual({ list });
    });

    test("in metadata are refused as well", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const { config, checkpoint } = await put(saver, "t", { n: 1 });
      const metadata = { source: "update" as const, step: 1, parents: {}, note: () => 1 };
      const refused = saver.put(config, checkpoint, metadata, {});
      await expect(refused).rejects.toMatchObject({ code: "unserializable_value" });
      await expect(refused).rejects.toThrow(/metadata\.note/);
    });
  });
}
