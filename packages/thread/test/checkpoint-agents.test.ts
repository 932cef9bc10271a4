import { AIMessage, AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import { type AgentMiddleware, createAgent, fakeModel, humanInTheLoopMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { read } from "../src/conformance/checkpoint-line.ts";
import { savers } from "./checkpoint-database.ts";

const send = tool(async ({ to }) => `sent to ${to}`, {
  name: "send",
  description: "Sends a letter",
  schema: z.object({ to: z.string() }),
});

const CONFIG = { configurable: { thread_id: "t" }, durability: "sync" as const };

describe.each(savers)("agents on $name", ({ run }) => {
  it.each([
    [" as a whole", () => new AIMessage({ content: "", tool_calls: [{ id: "c", name: "send", args: { to: "Bob" } }] })],
    [
      " in pieces",
      () => new AIMessageChunk({ content: "", tool_call_chunks: [{ id: "c", name: "send", args: '{"to":"Bob"}' }] }),
    ],
  ] as const)("a call%s that a human has edited, in place, is what another process finds", (_, asked) =>
    run(async ({ saver, another }) => {
      const call = asked();
      const model = fakeModel().respond(call).respond(new AIMessage("done"));
      const approval = humanInTheLoopMiddleware({ interruptOn: { send: true } } as never) as unknown as AgentMiddleware;
      const agent = createAgent({ model, tools: [send], middleware: [approval], checkpointer: saver });
      await agent.invoke({ messages: [new HumanMessage("write to Bob")] }, CONFIG);
      const decision = { type: "edit" as const, editedAction: { name: "send", args: { to: "Ann" } } };
      await agent.invoke(new Command({ resume: { decisions: [decision] } }), CONFIG);
      const { messages } = (await read(another(), "t")) as { messages: { content: string; tool_calls?: object[] }[] };
      expect(messages[1]?.tool_calls).toMatchObject([{ id: "c", args: { to: "Ann" } }]);
      expect(messages.map(({ content }) => content)).toEqual(["write to Bob", "", "sent to Ann", "done"]);
    }),
  );

  it("a subagent that fails goes on from its own last step, in another process", () =>
    run(async ({ saver, another }) => {
      const calls: string[] = [];
      const work = tool(
        async ({ step }) => {
          calls.push(step);
          if (step === "b" && calls.length === 2) throw new Error("out of order");
          return `did ${step}`;
        },
        { name: "work", description: "Works", schema: z.object({ step: z.string() }) },
      );
      const asks = (step: string) =>
        new AIMessage({ content: "", tool_calls: [{ id: step, name: "work", args: { step } }] });
      const delegate = { description: "do it", subagent_type: "worker" };
      const agentOn = (checkpointer: typeof saver, outer: AIMessage[], inner: AIMessage[]) =>
        createDeepAgent({
          model: outer.reduce((model, answer) => model.respond(answer), fakeModel()),
          subagents: [
            {
              name: "worker",
              description: "Works",
              systemPrompt: "Work.",
              tools: [work],
              model: inner.reduce((model, answer) => model.respond(answer), fakeModel()),
              middleware: [],
            },
          ],
          checkpointer,
        });
      const task = new AIMessage({ content: "", tool_calls: [{ id: "t", name: "task", args: delegate }] });
      const first = agentOn(saver, [task], [asks("a"), asks("b")]);
      await expect(first.invoke({ messages: [new HumanMessage("go")] }, CONFIG)).rejects.toThrow("out of order");
      const second = agentOn(another(), [new AIMessage("all done")], [new AIMessage("worked")]);
      const { messages } = await second.invoke(null, CONFIG);
      expect(calls).toEqual(["a", "b", "b"]);
      expect(messages.map(({ content }) => content)).toEqual(["go", "", "worked", "all done"]);
    }));
});
