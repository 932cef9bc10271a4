import type { RunnableConfig } from "@langchain/core/runnables";
import { type CheckpointMetadata, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { describe, expect, it, vi } from "vitest";
import type { CheckpointSaver } from "../src/checkpoint/checkpoint-saver.ts";
import { changes } from "../src/sql/statement.ts";
import { savers } from "./checkpoint-database.ts";

interface Line {
  length: number;
  /** After so many checkpoints a channel is stored whole. */
  whole: Record<string, number>;
}

/** Checkpoints each of which has a write to every channel, and their newest. */
async function line(saver: CheckpointSaver, { length, whole }: Line): Promise<RunnableConfig> {
  let config: RunnableConfig = { configurable: { thread_id: `${length} checkpoints` } };
  for (let step = 0; step < length; step++) {
    const versions = Object.fromEntries(Object.keys(whole).map((channel) => [channel, step + 1]));
    const due = Object.keys(whole).filter((channel) => step % (whole[channel] as number) === 0);
    const values = Object.fromEntries(due.map((channel) => [channel, `${channel} up to ${step}`]));
    const metadata = { source: "loop", step, parents: {} } as CheckpointMetadata;
    const checkpoint = { ...emptyCheckpoint(), channel_versions: versions, channel_values: values };
    config = await saver.put(config, checkpoint, metadata, versions);
    await saver.putWrites(
      config,
      Object.keys(whole).map((channel) => [channel, `${channel} ${step}`]),
      "task",
    );
  }
  return config;
}

/** How many texts are read for the state of a channel that is stored whole time and again. */
async function readFor(saver: CheckpointSaver, length: number): Promise<number> {
  const config = await line(saver, { length, whole: { log: 10 } });
  const parse = vi.spyOn(JSON, "parse");
  await saver.getDeltaChannelHistory({ config, channels: ["log"] });
  const read = parse.mock.calls.length;
  parse.mockRestore();
  return read;
}

describe.each(savers)("the history of delta channels on $name", ({ run }) => {
  it("takes no more of a long thread than of a short one", () =>
    run(async ({ saver }) => {
      const short = await readFor(saver, 100);
      expect(short).toBeGreaterThan(0);
      expect(await readFor(saver, 400)).toBe(short);
    }));

  it("is nobody's any more once the thread is deleted, though its rows may go later", () =>
    run(async ({ db, saver }) => {
      const config = await line(saver, { length: 3, whole: { log: 10 } });
      const tombstone = db.q.updateTable("threads").set({ deleted_at: new Date().toISOString() });
      await db.transaction(() => changes(tombstone));
      const { log } = await saver.getDeltaChannelHistory({ config, channels: ["log"] });
      expect(log).toEqual({ writes: [] });
    }));

  it("goes back as far as each channel was stored whole, and to the beginning if one never was", () =>
    run(async ({ saver }) => {
      const config = await line(saver, { length: 300, whole: { near: 7, far: 170, start: 1_000 } });
      const { near, far, start, none } = await saver.getDeltaChannelHistory({
        config,
        channels: ["near", "far", "start", "none"],
      });
      const texts = (channel: string, from: number, to: number) =>
        Array.from({ length: to - from }, (_, n) => ["task", channel, `${channel} ${from + n}`]);
      expect(near).toEqual({ seed: "near up to 294", writes: texts("near", 294, 299) });
      expect(far).toEqual({ seed: "far up to 170", writes: texts("far", 170, 299) });
      expect(start).toEqual({ seed: "start up to 0", writes: texts("start", 0, 299) });
      expect(none).toEqual({ writes: [] });
    }));

  it("has a step's writes as LangGraph applied them, by their tasks' places and not by their ids; so has a copy", () =>
    run(async ({ saver, another }) => {
      const start = await saver.put(
        { configurable: { thread_id: "paths" } },
        { ...emptyCheckpoint(), channel_versions: { log: 1 }, channel_values: { log: "start" } },
        { source: "loop", step: 0, parents: {} } as CheckpointMetadata,
        { log: 1 },
      );
      // As they end: in any order, with ids that sort in yet another one.
      await saver.putWrites(start, [["log", "third"]], "b", "~__pregel_push, 0000000002");
      await saver.putWrites(
        start,
        [
          ["log", "first"],
          ["log", "then"],
        ],
        "c",
        "~__pregel_push, 0000000000",
      );
      await saver.putWrites(start, [["log", "second"]], "a", "~__pregel_push, 0000000001");
      const applied = ["first", "then", "second", "third"];
      const next = { ...emptyCheckpoint(), channel_versions: { log: 2 } };
      const counters = { counters_since_delta_snapshot: { log: [1, 1] } };
      const metadata = { source: "loop", step: 1, parents: {}, ...counters } as CheckpointMetadata;
      const config = await saver.put(start, next, metadata, { log: 2 });
      await saver.copyThread("paths", "whole");
      await saver.copyThread("paths", "from", { checkpoint_id: next.id });

      for (const thread_id of ["paths", "whole", "from"]) {
        const reader = another();
        const at = { configurable: { ...config.configurable, thread_id } };
        const { log } = await reader.getDeltaChannelHistory({ config: at, channels: ["log"] });
        expect(log?.writes.map(([, , value]) => value)).toEqual(applied);
        const before = await reader.getTuple({ configurable: { ...start.configurable, thread_id } });
        expect(before?.pendingWrites?.map(([, , value]) => value)).toEqual(applied);
        for await (const { config: of, pendingWrites = [] } of reader.list({ configurable: { thread_id } })) {
          const written = of.configurable?.["checkpoint_id"] === next.id ? [] : applied;
          expect(pendingWrites.map(([, , value]) => value)).toEqual(written);
        }
      }
    }));
});
