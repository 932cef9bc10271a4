import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { type AgentMiddleware, createAgent, createMiddleware, fakeModel } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { inOneCall } from "../../src/runtime/one-call.ts";

/** What the middleware was given and what came of it, call by call. */
async function runWith(arrange: (middleware: AgentMiddleware[]) => AgentMiddleware[]) {
  const told: unknown[] = [];
  const counting = createMiddleware({
    name: "counting",
    stateSchema: z.object({ count: z.number().default(7) }),
    wrapModelCall: async (request, handler) => {
      const answer = await handler({ ...request, systemMessage: request.systemMessage.concat("\n\nCount.") });
      told.push(["counting", request.state.count, AIMessage.isInstance(answer) && answer.text]);
      return new Command({ update: { count: request.state.count + 1 } }) as never;
    },
  });
  const noting = createMiddleware({
    name: "noting",
    stateSchema: z.object({ note: z.string().optional() }),
    wrapModelCall: async (request, handler) => {
      const answer = (await handler(request)) as AIMessage;
      told.push(["noting", request.systemMessage.text, request.state.messages.length]);
      return new Command({ update: { note: `It said ${answer.text}` } }) as never;
    },
  });
  const doubling = createMiddleware({
    name: "doubling",
    wrapModelCall: async (request, handler) => {
      await handler(request);
      return (await handler(request)) as AIMessage;
    },
  });
  const softening = createMiddleware({
    name: "softening",
    wrapModelCall: async (request, handler) => {
      const systemMessage = request.systemMessage.concat("\n\nBe kind.");
      const answer = (await handler({ ...request, systemMessage })) as AIMessage;
      return new AIMessage({ content: `Please: ${answer.text}` });
    },
  });
  const given: BaseMessage[][] = [];
  const answer = (messages: BaseMessage[]) => {
    given.push(messages);
    return new AIMessage({ id: "answer", content: "go" });
  };
  const model = fakeModel().respond(answer).respond(answer);
  const middleware = [counting, noting, doubling, softening] as unknown as AgentMiddleware[];
  const agent = createAgent({ model, tools: [], systemPrompt: "You help.", middleware: arrange(middleware) });
  const state = await agent.invoke({ messages: [new HumanMessage("Hello")] });
  const { messages, ...rest } = state as unknown as { messages: BaseMessage[] };
  return { told, given: given.flat().map(({ text }) => text), said: messages.map(({ text }) => text), rest };
}

it("what several middlewares do around a model call is the same in one", async () => {
  const alone = await runWith((middleware) => middleware);
  const inTwo = await runWith((middleware) => [
    ...inOneCall("outer", middleware.slice(0, 2)),
    ...inOneCall("inner", middleware.slice(2)),
  ]);
  expect(inTwo).toEqual(alone);
  const kind = "You help.\n\nCount.\n\nBe kind.";
  expect(alone).toEqual({
    told: [
      ["noting", "You help.\n\nCount.", 1],
      ["counting", 7, "Please: go"],
    ],
    given: [kind, "Hello", kind, "Hello"],
    said: ["Hello", "Please: go"],
    rest: { count: 8, note: "It said Please: go" },
  });
});
