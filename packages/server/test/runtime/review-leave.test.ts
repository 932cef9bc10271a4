import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { openStorage } from "@cognition/thread";
import { it } from "vitest";
import { compose } from "../../src/compose.ts";
import { dataOf, eventsOf, send, startRuntime } from "./started-runtime.ts";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  seen: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

for (const passing of [true, false]) for (const wait of [0, 1, 2, 3]) {
  it(`passing=${passing} wait=${wait}`, async () => {
    let charged = 0;
    let finishB = false;
    let charge: () => void = () => undefined;
    const done = new Promise<void>((resolve) => { charge = resolve; });
    const build = () => {
      const g = new StateGraph(State)
        .addNode("a", async () => { await new Promise((r) => setTimeout(r, 60)); charged++; charge(); return { seen: ["a"] }; })
        .addNode("b", async (_: unknown, config) => {
          while (!finishB && !config.signal?.aborted) await new Promise((r) => setTimeout(r, 5));
          return { seen: ["b"] };
        })
        .addEdge(START, "a").addEdge(START, "b").compile();
      return passing ? g : g.withConfig({ callbacks: [{ handleChainEnd: () => undefined }] as never });
    };
    const storage = await openStorage("memory");
    const first = await startRuntime({ storage, graphs: { mine: build() as object }, session: { agent_name: "mine" } });
    const run_id = await send(first, "Go");
    await done;
    if (wait > 0) await new Promise((r) => setTimeout(r, wait)); else await new Promise((r) => setImmediate(r));
    await first.runtime.close(0);
    finishB = true;
    const second = await compose({ workspace_root: first.root, env: { PATH: process.env["PATH"] }, engine: { poll_ms: 20 }, onError: (e) => console.log("second", e), graphs: { mine: build() as object }, storage } as never);
    second.engine.start();
    const events = await eventsOf(first, run_id);
    console.log(`passing=${passing} wait=${wait} charged=${charged}`, JSON.stringify(dataOf(events, "done")), first.errors.map(String));
    await second.close(0);
  });
}
