import type { ApprovalPage, Run } from "@cognition/contract";
import { describe, expect, it, onTestFinished } from "vitest";
import { openai } from "../model/openai-server.ts";
import type { Answer } from "../model/scripted-server.ts";
import { calls, says, scriptedProvider } from "../runtime/scripted-provider.ts";
import { problemOf } from "./problem-of.ts";
import { readEvents } from "./read-events.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

const COMMANDS = ["one", "three", "two"];
const CALLS = COMMANDS.map((name) => `call_${name}`);

/** One message of the model that wants all of them run. */
function callsTogether(): Answer {
  const pieces = COMMANDS.flatMap((name, n) => [
    openai.toolStart(n, `call_${name}`, "execute"),
    openai.toolArgs(n, JSON.stringify({ command: `touch ${name}.txt` })),
  ]);
  return openai.stream(openai.start, ...pieces, openai.finish("tool_calls"), openai.done);
}

const agent = (more: string) => `---\ndescription: Works\n${more}\n---\nYou work.\n`;
const CAREFUL = "interrupt_on: {execute: true}";

async function startAsking(...answers: Answer[]) {
  const { server: model, options } = await scriptedProvider(...answers);
  onTestFinished(() => model[Symbol.asyncDispose]());
  const agents = {
    "careful.md": agent(CAREFUL),
    "typist.md": agent(`mode: subagent\n${CAREFUL}`),
    "lead.md": agent("subagents: [typist]"),
  };
  return startTestServer({ ...options, agents });
}

async function ask(server: TestServer, agent_name: string) {
  const { id } = await server.createSession({ agent_name });
  await readEvents(await server.ask(`/sessions/${id}/messages`, { method: "POST", json: { content: "Go" } }));
  return {
    id,
    waiting: async () => ((await (await server.ask("/approvals")).json()) as ApprovalPage).approvals,
    answer: async (...decisions: object[]) => {
      const response = await server.ask(`/sessions/${id}/resume`, { method: "POST", json: { decisions } });
      return (await response.json()) as Run;
    },
  };
}

describe("several approvals at once", () => {
  it("are answered one after the other: what was answered waits no more, and its result is among the messages", async () => {
    const server = await startAsking(callsTogether(), says("Done"));
    const { id, waiting, answer } = await ask(server, "careful");
    const asked = await waiting();
    expect(asked.map(({ tool_call_id }) => tool_call_id).sort()).toEqual(CALLS);
    const [first, ...others] = asked;
    expect(await answer({ id: first?.id, type: "approve" })).toMatchObject({ status: "waiting_for_approval" });
    expect(await waiting()).toMatchObject(others.map((one) => ({ id: one.id })));
    const again = { decisions: [{ id: first?.id, type: "reject" }] };
    const refused = server.ask(`/sessions/${id}/resume`, { method: "POST", json: again });
    expect(await problemOf(refused)).toMatchObject({ status: 409, code: "already_answered" });
    const rebuilt = await server.ask(`/sessions/${id}/messages/rebuild`, { method: "POST" });
    expect(await rebuilt.json()).toMatchObject({ repaired: 0, added: 0, removed: 0 });
    const rest = others.map((one) => ({ id: one.id, type: "approve" }));
    expect(await answer(...rest)).toMatchObject({ status: "succeeded" });
    expect(await waiting()).toEqual([]);
    expect(server.faults).toEqual([]);
  });

  it("of a subagent are each asked once, and the run goes on when all are answered", async () => {
    const delegates = calls("call_task", "task", { description: "Go", subagent_type: "typist" });
    const server = await startAsking(delegates, callsTogether(), says("Done"), says("It is done"));
    const { waiting, answer } = await ask(server, "lead");
    const answered: unknown[] = [];
    let run: Partial<Run> = {};
    for (let [next] = await waiting(); next; [next] = await waiting()) {
      expect(answered).not.toContain(next.tool_call_id);
      answered.push(next.tool_call_id);
      run = await answer({ id: next.id, type: "approve" });
    }
    expect(answered.sort()).toEqual(CALLS);
    expect(run).toMatchObject({ status: "succeeded" });
    expect(server.faults).toEqual([]);
  });
});
