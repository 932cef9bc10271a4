import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import { comparable, elsewhere, type Point, put, read } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

/** Pending writes that carry a long conversation along, as a Send does: a saver may know most of it already. */
export function checkpointWriteMutationContract(open: OpenStorage): void {
  describe("objects changed in place before a pending write that holds them", () => {
    it("are in the write as they are, with a checkpoint right after it", () =>
      withStorage(open, async ({ storage, second }) => {
        const { saver, first, held, signal } = await begin(await storage.getCheckpointer());
        for (const [place, text] of [
          [2, "an early one"],
          [39, "the last one"],
        ] as const) {
          (held[place] as BaseMessage).content = text;
          const now = structuredClone(comparable(held));
          const written = saver.putWrites({ ...first.config, signal }, [["tasks", { messages: [...held] }]], text);
          const next = put(saver, first, { messages: [...held] }, { signal });
          await written;
          const other = await elsewhere(storage, second);
          expect(await read(other, await next)).toStrictEqual({ messages: now });
          expect(await writeOf(other, first, text)).toStrictEqual({ messages: now });
        }
      })());

    it("are in the write as they are, with no checkpoint after it", () =>
      withStorage(open, async ({ storage, second }) => {
        const { saver, first, held, signal } = await begin(await storage.getCheckpointer());
        (held[5] as BaseMessage).content = "changed";
        const now = structuredClone(comparable(held));
        await saver.putWrites({ ...first.config, signal }, [["tasks", { messages: [...held] }]], "alone");
        const other = await elsewhere(storage, second);
        expect(await writeOf(other, first, "alone")).toStrictEqual({ messages: now });
      })());

    it("are in every write of the turn, though a later one holds another list in their place", () =>
      withStorage(open, async ({ storage, second }) => {
        const { saver, first, held, signal } = await begin(await storage.getCheckpointer());
        (held[5] as BaseMessage).content = "changed";
        const [all, some] = [[...held], [...held.slice(0, 3), ...held.slice(10)]];
        const now = structuredClone(comparable({ all, some })) as { all: unknown; some: unknown };
        const config = { ...first.config, signal };
        const written = [
          saver.putWrites(config, [["tasks", { messages: all }]], "all"),
          saver.putWrites(config, [["tasks", { messages: some }]], "some"),
        ];
        await Promise.all(written);
        const other = await elsewhere(storage, second);
        expect(await writeOf(other, first, "all")).toStrictEqual({ messages: now.all });
        expect(await writeOf(other, first, "some")).toStrictEqual({ messages: now.some });
      })());

    it("and once more by a reducer: the checkpoint holds what they are then, the one before what they were", () =>
      withStorage(open, async ({ storage, second }) => {
        const { saver, first, held, signal } = await begin(await storage.getCheckpointer());
        const before = structuredClone(comparable(held));
        const written = saver.putWrites({ ...first.config, signal }, [["tasks", { messages: [...held] }]], "task");
        (held[7] as BaseMessage).content = "by a reducer";
        const now = structuredClone(comparable(held));
        const next = await put(saver, first, { messages: [...held] }, { signal });
        await written;
        const other = await elsewhere(storage, second);
        expect(await read(other, next)).toStrictEqual({ messages: now });
        expect(await read(other, first)).toStrictEqual({ messages: before });
        expect([before, now]).toContainEqual(
          ((await writeOf(other, first, "task")) as { messages: unknown } | undefined)?.messages,
        );
      })());

    it("and what can't be stored is refused, whichever call sees it; the thread goes on", () =>
      withStorage(open, async ({ storage, second }) => {
        const { saver, first, held, signal } = await begin(await storage.getCheckpointer());
        Object.assign(held[5] as BaseMessage, { content: () => "a function" });
        const written = saver.putWrites({ ...first.config, signal }, [["tasks", { messages: [...held] }]], "task");
        await expect(written).rejects.toMatchObject({ code: "unserializable_value" });
        (held[5] as BaseMessage).content = "mended";
        await saver.getTuple({ configurable: { thread_id: "thread" }, signal });
        const next = await put(saver, first, { messages: held }, { signal });
        expect(await read(await elsewhere(storage, second), next)).toStrictEqual({ messages: comparable(held) });
      })());
  });
}

/** A thread whose one checkpoint holds forty messages, which the saver has seen in this invocation. */
async function begin(saver: CheckpointSaver) {
  const { signal } = new AbortController();
  const held = Array.from({ length: 40 }, (_, n) => new HumanMessage({ id: `${n}`, content: `${n}` }));
  return { saver, held, signal, first: await put(saver, "thread", { messages: held }, { signal }) };
}

async function writeOf(saver: CheckpointSaver, { config }: Point, task_id: string): Promise<unknown> {
  const tuple = await saver.getTuple({ configurable: config.configurable ?? {} });
  const found = tuple?.pendingWrites?.find(([task]) => task === task_id);
  return comparable(found?.[2]);
}
