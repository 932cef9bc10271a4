import { setTimeout as delay } from "node:timers/promises";
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  interrupt,
  MemorySaver,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { savers } from "./checkpoint-database.ts";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, more) => before.concat(more), default: () => [] }),
  last: Annotation<string>(),
});
const THREAD = { configurable: { thread_id: "t" } };

/** What a graph comes to must not depend on the saver: each scene tells it, and is compared with LangGraph's own saver. */
async function compare(saver: BaseCheckpointSaver, scene: (saver: BaseCheckpointSaver) => Promise<unknown>) {
  const expected = await scene(new MemorySaver());
  expect(await scene(saver)).toEqual(expected);
  return expected;
}

describe.each(savers)("graphs on $name as on MemorySaver", ({ run }) => {
  it("a checkpoint that is copied has the values of the one that it copies", () =>
    run(async ({ saver, another }) => {
      const scene = async (on: BaseCheckpointSaver, then: BaseCheckpointSaver) => {
        const graph = twoSteps(on);
        await graph.invoke({ log: ["in"] }, THREAD);
        const copies: unknown[] = [];
        for (const { config } of await history(graph)) {
          await graph.updateState(config, null, "__copy__");
          const copy = await twoSteps(then).getState(THREAD);
          copies.push([copy.values, copy.next, await graph.invoke(null, THREAD)]);
        }
        return copies;
      };
      const copies = await compare(saver, (on) => scene(on, on === saver ? another() : on));
      expect(copies).toContainEqual([{ log: ["in", "a"], last: "a" }, ["b"], { log: ["in", "a", "b"], last: "b" }]);
    }));

  it("an update of a step that some tasks have finished keeps what they wrote, and has none of them done again", () =>
    run(async ({ saver, another }) => {
      const scene = async (on: BaseCheckpointSaver, then: BaseCheckpointSaver) => {
        const done: string[] = [];
        const graph = fannedOut(on, done);
        await expect(graph.invoke({ log: ["in"] }, THREAD)).rejects.toThrow("stopped");
        await graph.updateState(THREAD, { log: ["closed"] }, "work");
        const next = fannedOut(then, done);
        const { values, next: ahead } = await next.getState(THREAD);
        const gone = await next.invoke(null, THREAD);
        return { values, ahead, gone, later: await next.invoke({ log: ["in"] }, THREAD).catch(String), done };
      };
      const told = await compare(saver, (on) => scene(on, on === saver ? another() : on));
      const values = { log: ["in", "finished", "closed"], last: "finished" };
      expect(told).toMatchObject({ values, ahead: ["end"], done: ["finished", "finished"] });
    }));

  it("with durability exit, what a task wrote before another failed counts once", () =>
    run(async ({ saver }) => {
      const ends = await compare(saver, async (on) => {
        let fails = true;
        const graph = new StateGraph(State)
          .addNode("ask", () => {
            if (fails) throw new Error("not yet");
            return { log: [`asked: ${interrupt("?")}`] };
          })
          .addNode("work", () => ({ log: ["worked"] }))
          .addEdge(START, "ask")
          .addEdge(START, "work")
          .compile({ checkpointer: on });
        const config = { ...THREAD, durability: "exit" as const };
        await expect(graph.invoke({ log: [] }, config)).rejects.toThrow("not yet");
        fails = false;
        await graph.invoke(null, config);
        return graph.invoke(new Command({ resume: "yes" }), config);
      });
      expect(ends).toEqual({ log: ["asked: yes", "worked"] });
    }));

  it("with durability exit, what a task wrote after its answer counts once, though on MemorySaver it counts twice", () =>
    run(async ({ saver, another }) => {
      const config = { ...THREAD, durability: "exit" as const };
      const graph = (checkpointer: BaseCheckpointSaver) =>
        new StateGraph(State)
          .addNode("ask", () => ({ log: [`asked: ${interrupt("?")}`] }))
          .addNode("other", () => ({ log: [`${interrupt("1")} ${interrupt("2")} ${interrupt("3")}`] }))
          .addEdge(START, "ask")
          .addEdge(START, "other")
          .compile({ checkpointer });
      await graph(saver).invoke({ log: [] }, config);
      for (const answer of ["a", "b", "c"]) {
        const open = (await graph(another()).getState(THREAD)).tasks.flatMap(({ interrupts }) => interrupts);
        await graph(saver).invoke(
          new Command({ resume: Object.fromEntries(open.map(({ id }) => [id, answer])) }),
          config,
        );
      }
      expect((await graph(another()).getState(THREAD)).values).toEqual({ log: ["asked: a", "a b c"] });
    }));

  it("with durability exit, a run that had nothing to do leaves the ancestry as it was", () =>
    run(async ({ saver }) => {
      const config = { ...THREAD, durability: "exit" as const };
      const graph = twoSteps(saver);
      await graph.invoke({ log: ["in"] }, config);
      await graph.invoke({ log: ["more"] }, config);
      const before = await history(graph);
      await graph.invoke(null, config);
      expect((await history(graph)).map(({ parentConfig }) => parentConfig)).toEqual(
        before.map(({ parentConfig }) => parentConfig),
      );
      await graph.invoke({ log: ["again"] }, config);
      expect(await saver.prune({ thread_id: "t", keep_last: 1 })).toMatchObject({ checkpoints: 2 });
      expect((await graph.getState(THREAD)).values).toMatchObject({
        log: ["in", "a", "b", "more", "a", "b", "again", "a", "b"],
      });
    }));

  it("with durability exit, a question of the past that leads to another one leaves the thread where it stands", () =>
    run(async ({ saver }) => {
      const ends = await compare(saver, async (on) => {
        const graph = new StateGraph(State)
          .addNode("ask", () => ({ log: [`${interrupt("1")} ${interrupt("2")}`] }))
          .addEdge(START, "ask")
          .compile({ checkpointer: on });
        await graph.invoke({ log: ["in"] }, THREAD);
        const { config: asked } = await graph.getState(THREAD);
        await graph.updateState(THREAD, { log: ["told"] }, "ask");
        await graph.invoke(new Command({ resume: "a" }), { ...asked, durability: "exit" });
        const { values, next } = await graph.getState(THREAD);
        return [values, next];
      });
      expect(ends).toEqual([{ log: ["in", "told"] }, []]);
    }));

  it.each(["sync", "async", "exit"] as const)(
    "with durability %s, whoever goes back to a checkpoint finds a subgraph that keeps its state as it was then, after a prune too",
    (durability) =>
      run(async ({ saver, another }) => {
        const scene = async (on: BaseCheckpointSaver, then: BaseCheckpointSaver) => {
          const config = { ...THREAD, durability };
          const graph = keeping(on, "two");
          await graph.invoke({ last: "one" }, config);
          await expect(graph.invoke({ last: "two" }, config)).rejects.toThrow("not two");
          const updated = await graph.updateState(THREAD, { last: "too" }, START);
          await graph.invoke({ last: "three" }, config);
          if (on === saver) {
            const ids = (await history(graph)).map((state) => state.config.configurable?.["checkpoint_id"]);
            await saver.prune({ thread_id: "t", keep_last: ids.indexOf(updated.configurable?.["checkpoint_id"]) + 2 });
          }
          const back = await keeping(then).invoke(null, { ...updated, durability });
          return [back.log, (await keeping(then).invoke({ last: "four" }, config)).log];
        };
        const told = await compare(saver, (on) => scene(on, on === saver ? another() : on));
        const then = ["heard: one", "heard: one too"];
        expect(told).toEqual([then, [...then, "heard: one too four"]]);
      }),
  );

  it("an update of a thread that waits keeps what its other tasks have written, and so does a copy of it", () =>
    run(async ({ saver, another }) => {
      const scene = async (on: BaseCheckpointSaver, then: BaseCheckpointSaver) => {
        const graph = asking(on);
        await graph.invoke({ log: ["in"] }, THREAD);
        await graph.updateState(THREAD, { log: ["told"] }, "ask");
        const updated = await asking(then).getState(THREAD);
        await graph.updateState(THREAD, null, "__copy__");
        const copied = await asking(then).getState(THREAD);
        const end = await graph.invoke(null, THREAD);
        return [updated, copied].map(({ values, next }) => ({ values, next })).concat(end as never);
      };
      const ends = await compare(saver, (on) => scene(on, on === saver ? another() : on));
      const values = { log: ["in", "told"], last: "worked" };
      expect(ends).toEqual([
        { values, next: ["close"] },
        { values, next: ["close"] },
        { ...values, log: ["in", "told", "closed"] },
      ]);
    }));

  it("an update after several nodes at once must say as which one it is made", () =>
    run(async ({ saver }) => {
      const graph = new StateGraph(State)
        .addNode("a", () => ({ log: ["a"] }))
        .addNode("b", () => ({ log: ["b"] }))
        .addEdge(START, "a")
        .addEdge(START, "b")
        .compile({ checkpointer: saver });
      await graph.invoke({ log: ["in"] }, THREAD);
      await expect(graph.updateState(THREAD, { log: ["?"] })).rejects.toThrow("Ambiguous update");
    }));

  it("whoever goes back to a question finds all answers that were given to it", () =>
    run(async ({ saver }) => {
      const ends = await compare(saver, async (on) => {
        const graph = new StateGraph(State)
          .addNode("ask", () => ({ log: [`${interrupt("1")} ${interrupt("2")}`] }))
          .addNode("other", () => ({ log: [`${interrupt("3")}`] }))
          .addEdge(START, "ask")
          .addEdge(START, "other")
          .compile({ checkpointer: on });
        await graph.invoke({ log: [] }, THREAD);
        const { config } = await graph.getState(THREAD);
        const answers = async (answer: string) => {
          const open = (await graph.getState(THREAD)).tasks.flatMap(({ interrupts }) => interrupts);
          return graph.invoke(new Command({ resume: Object.fromEntries(open.map(({ id }) => [id, answer])) }), THREAD);
        };
        await answers("a");
        await answers("b");
        return graph.invoke(new Command({ resume: "c" }), config);
      });
      expect(ends).toEqual({ log: ["a b", "a"] });
    }));
});

/** A question, and work that is done beside it. */
function asking(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(State)
    .addNode("ask", () => ({ log: [`${interrupt("?")}`] }))
    .addNode("work", () => ({ last: "worked" }))
    .addNode("close", () => ({ log: ["closed"] }))
    .addEdge(START, "ask")
    .addEdge(START, "work")
    .addEdge("ask", "close")
    .compile({ checkpointer });
}

/** A subgraph that keeps all that it has heard from one call to the next. */
function keeping(checkpointer: BaseCheckpointSaver, refused?: string) {
  const Heard = Annotation.Root({
    log: Annotation<string[]>(),
    last: Annotation<string>({ reducer: (before, more) => `${before} ${more}`, default: () => "heard:" }),
  });
  const inner = new StateGraph(Heard)
    .addNode("hear", async () => ({}))
    .addNode("tell", ({ last }) => {
      if (refused && last.endsWith(refused)) throw new Error(`not ${refused}`);
      return { log: [last] };
    })
    .addEdge(START, "hear")
    .addEdge("hear", "tell")
    .compile({ checkpointer: true });
  return new StateGraph(State)
    .addNode("inner", inner as never, { input: Annotation.Root({ last: State.spec.last }) as never })
    .addNode("end", () => ({}))
    .addEdge(START, "inner")
    .addEdge("inner", "end")
    .compile({ checkpointer });
}

function twoSteps(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(State)
    .addNode("a", () => ({ log: ["a"], last: "a" }))
    .addNode("b", () => ({ log: ["b"], last: "b" }))
    .addEdge(START, "a")
    .addEdge("a", "b")
    .compile({ checkpointer });
}

async function history(graph: Pick<ReturnType<typeof twoSteps>, "getStateHistory">) {
  const states = [];
  for await (const state of graph.getStateHistory(THREAD)) states.push(state);
  return states;
}

/** Two tasks side by side, of which one fails each time. */
function fannedOut(checkpointer: BaseCheckpointSaver, done: string[]) {
  const Work = Annotation.Root({ ...State.spec, name: Annotation<string>() });
  return new StateGraph(State)
    .addNode("begin", () => ({}))
    .addNode(
      "work",
      async ({ name }: typeof Work.State) => {
        if (name === "stopped") {
          await delay(20); // the other is done by then
          throw new Error("stopped");
        }
        done.push(name);
        return { log: [name], last: name };
      },
      { input: Work },
    )
    .addNode("end", () => ({ log: ["end"] }))
    .addEdge(START, "begin")
    .addConditionalEdges("begin", () => ["finished", "stopped"].map((name) => new Send("work", { name })), ["work"])
    .addEdge("work", "end")
    .compile({ checkpointer });
}
