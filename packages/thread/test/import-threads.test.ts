import { Command } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { importThreads } from "../src/checkpoint/import-threads.ts";
import { savers } from "./checkpoint-database.ts";
import { fillThreads, historyOf, questionGraph, threadConfig } from "./import-graph.ts";

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
