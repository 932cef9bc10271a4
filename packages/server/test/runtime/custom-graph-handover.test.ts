import { setTimeout as delay } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { compose } from "../../src/compose.ts";
import { dataOf, eventsOf, send, startRuntime } from "./started-runtime.ts";

it("what a node has done when its server leaves in a hurry is not done again by the next", async () => {
  const charged = Promise.withResolvers<void>();
  let charges = 0;
  let patient = true;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("charge", () => {
      charges++;
      setImmediate(charged.resolve);
      return { messages: [new AIMessage("Charged")] };
    })
    .addNode("beside", async () => {
      if (patient) await delay(60_000, undefined, { ref: false });
      return {};
    })
    .addEdge(START, "charge")
    .addEdge(START, "beside")
    .compile();
  const started = await startRuntime({ graphs: { mine: graph }, session: { agent_name: "mine" } });
  const run_id = await send(started, "Charge me");
  await charged.promise;
  await started.runtime.close(0);
  patient = false;
  const next = await compose({
    storage: started.storage,
    workspace_root: started.root,
    env: { PATH: process.env["PATH"] },
    engine: { poll_ms: 20 },
    onError: (error) => started.errors.push(error),
    graphs: { mine: graph },
  });
  next.engine.start();
  try {
    expect(dataOf(await eventsOf(started, run_id, 0), "done")).toMatchObject([{ status: "succeeded" }]);
  } finally {
    await next.close();
  }
  expect(charges).toBe(1);
});
