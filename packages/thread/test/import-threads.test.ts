import { Command } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../src/checkpoint/checkpoint-saver.ts";
import { importThreads } from "../src/checkpoint/import-threads.ts";
import { savers } from "./checkpoint-database.ts";
import { fillThreads, historyOf, questionGraph, threadConfig } from "./import-graph.ts";

class Cut extends Error {}

function isCut(error: unknown): true {
  if (error instanceof Cut) return true;
  throw error;
}

/** After so many writes nothing more comes through. */
function cutShort(saver: CheckpointSaver, writes: number): CheckpointSaver {
  let left = writes;
  const count = () => {
    if (left-- === 0) throw new Cut();
  };
  const { put, putWrites } = saver;
  saver.put = async (...args) => {
    count();
    return put.apply(saver, args);
  };
  saver.putWrites = async (...args) => {
    count();
    return putWrites.apply(saver, args);
  };
  return saver;
}

describe.each(savers)("threads of another checkpointer in $name", ({ run }) => {
  it("are the same, branches and questions included, and go on where they stood", () =>
    run(async ({ saver, another }) => {
      const from = new MemorySaver();
      await fillThreads(from);
      const report = await importThreads(from, saver);
      expect(report).toMatchObject({ thread_ids: expect.arrayContaining(["done", "waiting"]), skipped: 0 });
      for (const id of ["done", "waiting"]) expect(await historyOf(another(), id)).toEqual(await historyOf(from, id));

      const config = threadConfig("waiting");
      const here = await questionGraph(another()).invoke(new Command({ resume: 7 }), config);
      const there = await questionGraph(from).invoke(new Command({ resume: 7 }), config);
      expect(here.steps).toEqual(there.steps);
      expect(here.messages.map(({ content }) => content)).toEqual(["wait", "hello 1", "done answered 7"]);
    }));

  it("are whole after any number of imports that were cut short", () =>
    run(async ({ saver, another }) => {
      const from = new MemorySaver();
      await fillThreads(from);
      const begun: string[] = [];
      const beforeThread = (thread_id: string) => begun.push(thread_id);
      let cut = true;
      for (let writes = 1; cut; writes++) {
        const target = cutShort(another(), writes);
        cut = await importThreads(from, target, { beforeThread }).then(() => false, isCut);
      }
      for (const id of ["done", "waiting"]) expect(await historyOf(another(), id)).toEqual(await historyOf(from, id));

      const times = begun.length;
      await importThreads(from, saver, { beforeThread });
      expect(begun).toHaveLength(times);
    }));

  it("are brought over once; one that has gone on here is left alone", () =>
    run(async ({ saver }) => {
      const from = new MemorySaver();
      await fillThreads(from);
      const first = await importThreads(from, saver, { thread_ids: ["waiting"] });
      expect(first.thread_ids).toEqual(["waiting"]);
      expect(await importThreads(from, saver, { thread_ids: ["waiting"] })).toEqual({
        ...{ thread_ids: ["waiting"], checkpoints: 0, skipped: first.checkpoints },
      });
      await questionGraph(saver).invoke(new Command({ resume: 7 }), threadConfig("waiting"));
      await expect(importThreads(from, saver)).rejects.toMatchObject({
        code: "already_exists",
        details: { thread_id: "waiting" },
      });
    }));
});
