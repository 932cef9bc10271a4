import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { type CheckpointMetadata, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { createDeepAgent, StateBackend } from "deepagents";
import { createAgent, fakeModel, tool } from "langchain";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { CheckpointSaver } from "../src/checkpoint/checkpoint-saver.ts";
import { put, read } from "../src/conformance/checkpoint-line.ts";
import { savers } from "./checkpoint-database.ts";
import { shapes } from "./state-shapes.ts";

const TEXT = "a sentence of an answer ".repeat(18);
/** Four times as much may take 4.4 times the place: the rest is what each checkpoint costs by itself. */
const GROWTH = 4.4;

const lookUp = tool(async ({ at }) => `${at} ${TEXT}`, {
  name: "look_up",
  description: "Looks something up",
  schema: z.object({ at: z.number() }),
});

async function sizeOfAgent(saver: CheckpointSaver, turns: number): Promise<number> {
  const thread_id = `${turns} turns`;
  let model = fakeModel();
  for (let n = 0; n < turns; n++) {
    model = model.respond(
      new AIMessage({ content: TEXT, tool_calls: [{ id: `${n}`, name: "look_up", args: { at: n } }] }),
    );
  }
  model = model.respond(new AIMessage("done"));
  const agent = createAgent({ model, tools: [lookUp], checkpointer: saver });
  const config = { configurable: { thread_id }, recursionLimit: 10 * turns + 10, durability: "sync" as const };
  const { messages } = await agent.invoke({ messages: [new HumanMessage("go")] }, config);
  expect(messages).toHaveLength(2 * turns + 2);
  expect((await read(saver, thread_id))?.["messages"]).toHaveLength(2 * turns + 2);
  return saver.threadSize(thread_id);
}

describe.each(savers)("what a thread takes on $name", ({ run }) => {
  it("an agent's messages: four times as many take four times the place", { timeout: 300_000 }, () =>
    run(async ({ saver }) => {
      const short = await sizeOfAgent(saver, 50);
      const long = await sizeOfAgent(saver, 200);
      expect(long / short).toBeLessThan(GROWTH);
    }),
  );

  it("a map of files of which one changes at each step", () =>
    run(async ({ saver }) => {
      const size = async (steps: number) => {
        let files: Record<string, object> = {};
        let at: Parameters<typeof put>[1] = `${steps} steps`;
        for (let n = 0; n < steps; n++) {
          files = { ...files, [`/file-${n % 20}`]: { content: [`${n} ${TEXT}`], modified_at: `${n}` } };
          at = await put(saver, at, { files, messages: [] }, { changed: ["files"] });
        }
        return saver.threadSize(`${steps} steps`);
      };
      expect((await size(400)) / (await size(100))).toBeLessThan(GROWTH);
    }));

  it.each(shapes)("$name: a step takes what is new in it", ({ begin, change, atMost }) =>
    run(async ({ saver, another }) => {
      let value: unknown = begin();
      let at = await put(saver, "t", { value });
      const size = await saver.threadSize("t");
      for (let n = 0; n < 10; n++) {
        value = change(value as never, n);
        at = await put(saver, at, { value });
      }
      expect(((await saver.threadSize("t")) - size) / 10).toBeLessThan(atMost);
      expect(size).toBeGreaterThan(5 * atMost);
      expect(await read(another(), at)).toEqual({ value });
    }),
  );

  it("what a node gives and its channel holds is stored once", () =>
    run(async ({ saver }) => {
      const State = Annotation.Root({ text: Annotation<string>, more: Annotation<Record<string, string>> });
      const graph = new StateGraph(State)
        .addNode("write", () => ({ text: TEXT.repeat(10), more: { a: TEXT, b: TEXT.repeat(5) } }))
        .addEdge(START, "write")
        .compile({ checkpointer: saver });
      await graph.invoke({}, { configurable: { thread_id: "t" }, durability: "sync" });
      expect(await saver.threadSize("t")).toBeLessThan(17 * TEXT.length + 3_000);
      expect(await saver.threadSize("t")).toBeGreaterThan(16 * TEXT.length);
    }));

  it("a deep agent that writes files keeps them, and edits cost what is new", () =>
    run(async ({ saver, another }) => {
      const size = async (files: number) => {
        let model = fakeModel();
        for (let n = 0; n < files; n++) {
          const args = { file_path: `/notes-${n}.txt`, content: `${n} ${TEXT}` };
          model = model.respond(new AIMessage({ content: "", tool_calls: [{ id: `${n}`, name: "write_file", args }] }));
        }
        model = model.respond(new AIMessage("done"));
        const agent = createDeepAgent({ model, backend: (runtime) => new StateBackend(runtime), checkpointer: saver });
        const config = {
          configurable: { thread_id: `${files} files` },
          recursionLimit: 20 * files + 50,
          durability: "sync" as const,
        };
        await agent.invoke({ messages: [new HumanMessage("write")] }, config);
        const state = await read(another(), `${files} files`);
        expect(Object.keys(state?.["files"] as object)).toHaveLength(files);
        return saver.threadSize(`${files} files`);
      };
      const [ten, forty] = [await size(10), await size(40)];
      expect(forty / ten).toBeLessThan(GROWTH);
    }));
});

/** How many texts a prune reads of a thread whose messages are all in the writes of ancestors. */
async function readByPrune(saver: CheckpointSaver, checkpoints: number): Promise<number> {
  const thread_id = `${checkpoints} checkpoints`;
  let config: RunnableConfig = { configurable: { thread_id } };
  for (let step = 0; step < checkpoints; step++) {
    const versions = { messages: step + 1 };
    const metadata = { source: "loop", step, parents: {}, counters_since_delta_snapshot: { messages: [step, step] } };
    const checkpoint = { ...emptyCheckpoint(), channel_versions: versions };
    config = await saver.put(config, checkpoint, metadata as CheckpointMetadata, versions);
  }
  const parse = vi.spyOn(JSON, "parse");
  const { checkpoints: pruned } = await saver.prune({ thread_id, keep_last: checkpoints });
  const read = parse.mock.calls.length;
  parse.mockRestore();
  expect(pruned).toBe(0);
  return read;
}

describe.each(savers)("what a prune takes on $name", ({ run }) => {
  it("of ten times as many deltas, each of which may stay: ten times as much", () =>
    run(async ({ saver }) => {
      const few = await readByPrune(saver, 20);
      expect(few).toBeGreaterThanOrEqual(20);
      expect(await readByPrune(saver, 200)).toBeLessThanOrEqual(10 * few);
    }));
});
