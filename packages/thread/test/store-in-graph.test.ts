import { tool } from "@langchain/core/tools";
import { Annotation, InMemoryStore, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { AsyncBatchedStore } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Store } from "../src/checkpoint/store.ts";
import { systemContext } from "../src/sql/context.ts";
import type { Database } from "../src/sql/database.ts";
import { migrate } from "../src/sql/migrate.ts";
import { openSqlite } from "../src/sql/sqlite-database.ts";

const State = Annotation.Root({ seen: Annotation<unknown> });

/** What a node, a tool and a subgraph get as `config.store`. */
type InGraph = Store;

function graphOf(node: (store: InGraph) => Promise<unknown>) {
  return new StateGraph(State)
    .addNode("node", async (_state, config: LangGraphRunnableConfig) => ({ seen: await node(config.store as InGraph) }))
    .addEdge(START, "node");
}

function countZeroTimers(): () => number {
  const spy = vi.spyOn(globalThis, "setTimeout");
  return () => spy.mock.calls.filter(([, ms]) => !ms).length;
}

/** Long enough for a poller to be noticed, by turns of the event loop rather than by a clock. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("the store inside a graph", () => {
  let db: Database;
  let store: Store;

  beforeEach(async () => {
    db = openSqlite({ path: ":memory:" });
    await migrate(db);
    store = new Store(systemContext(db));
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await db.close();
  });

  it("takes every argument and every method, in a node", async () => {
    const put = vi.spyOn(store, "put");
    const graph = graphOf(async (inside) => {
      await inside.put(["users", "ann"], "k", { text: "likes tea" }, ["text"], { ttl: 5 });
      await inside.batch([{ namespace: ["users", "bob"], key: "k", value: { text: "likes coffee" } }]);
      await inside.delete(["users", "bob"], "k");
      return {
        namespaces: await inside.listNamespaces({ prefix: ["users"] }),
        item: await inside.get(["users", "ann"], "k"),
        found: await inside.search(["users"], { query: "TEA" }),
      };
    }).compile({ store });
    const { seen } = await graph.invoke({});
    expect(seen).toMatchObject({
      namespaces: [["users", "ann"]],
      item: { value: { text: "likes tea" }, expiresAt: expect.any(Date) },
      found: [{ key: "k", score: 1 }],
    });
    expect(put).toHaveBeenCalledWith(["users", "ann"], "k", { text: "likes tea" }, ["text"], { ttl: 5 });
  });

  it("does so in a subgraph and in a tool, and for a store given to one run", async () => {
    const remember = tool(
      async (_input, config: LangGraphRunnableConfig) =>
        (config.store as InGraph).put(["n"], "tool", { a: 1 }, false, { ttl: 5 }),
      { name: "remember" },
    );
    const inner = graphOf((inside) => inside.listNamespaces()).compile();
    const graph = new StateGraph(State)
      .addNode("tool", async (_state, config) => void (await remember.invoke({}, config)))
      .addNode("inner", inner)
      .addEdge(START, "tool")
      .addEdge("tool", "inner")
      .compile();
    const { seen } = await graph.invoke({}, { store });
    expect(seen).toEqual([["n"]]);
    expect((await store.get(["n"], "tool"))?.expiresAt).toBeInstanceOf(Date);
  });

  it("has no timer running while a run lasts", async () => {
    const zeroTimers = countZeroTimers();
    await graphOf(manyTurns).compile({ store }).invoke({});
    expect(zeroTimers()).toBe(0);
  });

  it("still answers who kept it after the run", async () => {
    let kept: InGraph | undefined;
    const graph = graphOf(async (inside) => {
      kept = inside;
    }).compile({ store });
    await graph.invoke({});
    await kept?.put(["n"], "k", { a: 1 });
    expect((await kept?.get(["n"], "k"))?.value).toEqual({ a: 1 });
  });

  it("leaves the wrappers of other stores as they are", async () => {
    const zeroTimers = countZeroTimers();
    const other = new InMemoryStore();
    const graph = graphOf(async (inside) => {
      await manyTurns();
      await inside.put(["n"], "k", { a: 1 });
      return inside instanceof AsyncBatchedStore;
    }).compile({ store: other });
    expect((await graph.invoke({})).seen).toBe(true);
    expect(zeroTimers()).toBeGreaterThan(0);
    expect((await other.get(["n"], "k"))?.value).toEqual({ a: 1 });
  });
});
