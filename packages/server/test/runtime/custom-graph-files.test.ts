import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { runContext } from "../../src/runtime/run-context.ts";
import { say, startRuntime } from "./started-runtime.ts";

function writes(name: string) {
  return () => {
    writeFileSync(join(runContext().workspace, name), name);
    return { messages: [new AIMessage(`Wrote ${name}`)] };
  };
}

it("files that a node of a user's own graph writes belong to the checkpoint of its step", async () => {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("third", writes("c.txt"))
    .addEdge(START, "third")
    .addEdge("third", END)
    .compile();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("first", writes("a.txt"))
    .addNode("second", writes("b.txt"))
    .addNode("inner", inner)
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", "inner")
    .addEdge("inner", END)
    .compile();
  const started = await startRuntime({ graphs: { writer: graph } });
  const { storage, runtime, root } = started;
  const session = await storage.createSession({ agent_name: "writer" });
  await say({ ...started, session }, "Write");
  const folder = join(root, session.id);
  expect(readdirSync(folder)).toEqual(["a.txt", "b.txt", "c.txt"]);

  const checkpoints = await storage.timeline.readTimeline(session.id, { limit: 10 });
  const before = (node: string) => checkpoints.find(({ next }) => next.includes(node))?.checkpoint_id ?? "";
  const filesAt = async (checkpoint_id: string) => {
    await runtime.timeline.rewind(session, {
      checkpoint_id,
      restore: ["conversation", "files"],
      force: false,
      dry_run: false,
    });
    return readdirSync(folder);
  };
  const [head] = checkpoints;
  expect(await filesAt(before("second"))).toEqual(["a.txt"]);
  expect(await filesAt(before("inner"))).toEqual(["a.txt", "b.txt"]);
  expect(await filesAt(before("first"))).toEqual([]);
  expect(await filesAt(head?.checkpoint_id ?? "")).toEqual(["a.txt", "b.txt", "c.txt"]);
  expect(started.errors).toEqual([]);
});
