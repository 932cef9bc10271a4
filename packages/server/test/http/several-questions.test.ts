import { AppError, type ApprovalPage, type Run } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { AIMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished } from "vitest";
import { problemOf } from "./problem-of.ts";
import { readEvents } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";

const asking = new StateGraph(MessagesAnnotation)
  .addNode("ask", () => {
    const answers = [interrupt("Pay Ann?"), interrupt("Pay Bob?")];
    return { messages: [new AIMessage(answers.join(" "))] };
  })
  .addEdge(START, "ask")
  .compile();
const nested = new StateGraph(MessagesAnnotation).addNode("pay", asking).addEdge(START, "pay").compile();

async function ask(graph: object, storage?: Storage) {
  const server = await startTestServer({
    graphs: { payer: graph },
    engine: { lease_ms: 1_000, poll_ms: 20 },
    ...(storage && { storage }),
  });
  const { id } = await server.createSession({ agent_name: "payer" });
  await readEvents(await server.ask(`/sessions/${id}/messages`, { method: "POST", json: { content: "Go" } }));
  return {
    waiting: async () => ((await (await server.ask("/approvals")).json()) as ApprovalPage).approvals,
    answer: (of: string | undefined, value: string) => {
      const decisions = [{ id: of, type: "respond", value }];
      return server.ask(`/sessions/${id}/resume`, { method: "POST", json: { decisions } });
    },
    resume: () => server.ask(`/sessions/${id}/resume`, { method: "POST", json: {} }),
    said: async () => (await server.storage.listMessagesForSession(id)).at(-1)?.content,
  };
}

for (const [where, graph] of Object.entries({ "a node": asking, "a subgraph's node": nested })) {
  it(`an answer that comes twice is no answer to what ${where} asks next`, async () => {
    const { waiting, answer, said } = await ask(graph);
    const [first] = await waiting();
    expect(((await (await answer(first?.id, "yes")).json()) as Run).status).toBe("waiting_for_approval");
    expect(await problemOf(answer(first?.id, "yes"))).toMatchObject({ status: 409, code: "already_answered" });
    const [second] = await waiting();
    expect([first?.value, second?.value]).toEqual(["Pay Ann?", "Pay Bob?"]);
    expect(((await (await answer(second?.id, "no")).json()) as Run).status).toBe("succeeded");
    expect(await said()).toBe("yes no");
  });

  it(`an answer is used once, though what ${where} asks next could not be kept`, async () => {
    const real = await openStorage("memory");
    onTestFinished(() => real.close());
    let suspensions = 0;
    const suspendRun: Storage["suspendRun"] = async (...args) => {
      if (++suspensions === 2) throw new AppError("storage_closed", "the node was killed");
      return real.suspendRun(...args);
    };
    const { waiting, answer, said } = await ask(graph, { ...real, suspendRun });
    const [first] = await waiting();
    await answer(first?.id, "yes");
    const [second] = await waiting();
    expect([suspensions, second?.value]).toEqual([3, "Pay Bob?"]);
    await answer(second?.id, "no");
    expect(await said()).toBe("yes no");
  });
}

it("what a node asks that failed after an answer, and is tried again, is asked", async () => {
  let failures = 1;
  const failing = new StateGraph(MessagesAnnotation)
    .addNode("ask", () => {
      const first = interrupt("Pay Ann?");
      if (failures-- > 0) throw new Error("the bank is closed");
      return { messages: [new AIMessage(`${first} ${interrupt("Pay Bob?")}`)] };
    })
    .addEdge(START, "ask")
    .compile();
  const { waiting, answer, resume, said } = await ask(failing);
  const [first] = await waiting();
  expect(((await (await answer(first?.id, "yes")).json()) as Run).status).toBe("failed");
  expect(((await (await resume()).json()) as Run).status).toBe("waiting_for_approval");
  const [second] = await waiting();
  expect(second?.value).toBe("Pay Bob?");
  await answer(second?.id, "no");
  expect(await said()).toBe("yes no");
});
