import { createMiddleware } from "langchain";
import { expect, it } from "vitest";
import { INITIAL_STATE } from "../../src/runtime/agent-graph.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

/** With a middleware of its own, even one that does nothing, LangChain makes the first input itself. */
const agent = (fields: string) => `---\ndescription: Helps.\n${fields}\n---\nYou help.\n`;
const GIVES_OBJECT = "response_format: { type: object, properties: { n: { type: number } } }";
const files = {
  ".cognition/agents/counter.md": agent(GIVES_OBJECT),
  ".cognition/agents/langchain.md": agent("middleware: [idle]"),
  ".cognition/agents/langchain-counter.md": agent(`middleware: [idle]\n${GIVES_OBJECT}`),
};
const middleware = { idle: () => createMiddleware({ name: "idle" }) };

it.each(["default", "readonly", "counter", "langchain", "langchain-counter"])(
  "%s: the first input of a thread is what LangChain makes of it",
  async (agent_name) => {
    const started = await startRuntime({ files, middleware, session: { agent_name } });
    expect(dataOf(await say(started, "Hello"), "done")).toHaveLength(1);
    const saver = await started.storage.getCheckpointer();
    const config = { configurable: { thread_id: started.session.thread_id } };
    const inputs: Record<string, unknown>[] = [];
    for await (const { checkpoint, metadata } of saver.list(config)) {
      if (metadata?.source === "input") inputs.push(checkpoint.channel_values["__start__"] as Record<string, unknown>);
    }
    expect(inputs).toEqual([{ ...INITIAL_STATE, messages: [expect.objectContaining({ content: "Hello" })] }]);
  },
);

it("later ones leave what is there as it is", async () => {
  const started = await startRuntime({});
  await say(started, "Make a todo list with three steps and work it off");
  const saver = await started.storage.getCheckpointer();
  const config = { configurable: { thread_id: started.session.thread_id } };
  const todos = async () => (await saver.getTuple(config))?.checkpoint.channel_values["todos"];
  const planned = await todos();
  expect(planned).toHaveLength(3);
  await say(started, "Hello");
  expect(await todos()).toEqual(planned);
});
