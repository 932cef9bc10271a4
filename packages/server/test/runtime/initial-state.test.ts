import type { ReactAgent } from "langchain";
import { expect, it, vi } from "vitest";
import { INITIAL_STATE } from "../../src/runtime/agent-graph.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

const { made } = vi.hoisted(() => ({ made: [] as ReactAgent[] }));

vi.mock("deepagents", async (load) => {
  const original = await load<typeof import("deepagents")>();
  const createDeepAgent = (...options: Parameters<typeof original.createDeepAgent>) => {
    const agent = original.createDeepAgent(...options);
    made.push(agent as unknown as ReactAgent);
    return agent;
  };
  return { ...original, createDeepAgent };
});

/** What LangChain's own agent would give to its graph. */
async function initialised(agent: ReactAgent, given: object): Promise<unknown> {
  const { graph } = agent as unknown as { graph: { stream: unknown } };
  let seen: unknown;
  graph.stream = async (input: unknown) => {
    seen = input;
  };
  await agent.stream(given as never, { configurable: { thread_id: "another" } });
  return seen;
}

const COUNTER = `---
description: Gives an object.
response_format:
  type: object
  properties:
    n: { type: number }
---
Count.
`;

it.each(["default", "readonly", "counter"])(
  "%s: the first input of a thread is what LangChain makes of it",
  async (agent) => {
    made.length = 0;
    const files = { ".cognition/agents/counter.md": COUNTER };
    const started = await startRuntime({ files, session: { agent_name: agent } });
    expect(dataOf(await say(started, "Hello"), "done")).toHaveLength(1);
    const saver = await started.storage.getCheckpointer();
    const config = { configurable: { thread_id: started.session.thread_id } };
    const inputs: Record<string, unknown>[] = [];
    for await (const { checkpoint, metadata } of saver.list(config)) {
      if (metadata?.source === "input") inputs.push(checkpoint.channel_values["__start__"] as Record<string, unknown>);
    }
    expect(inputs).toEqual([{ ...INITIAL_STATE, messages: [expect.objectContaining({ content: "Hello" })] }]);
    expect(await initialised(made[0] as ReactAgent, { messages: [] })).toEqual({ ...INITIAL_STATE, messages: [] });
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
