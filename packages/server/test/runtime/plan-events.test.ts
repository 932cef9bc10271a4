import { expect, it, onTestFinished } from "vitest";
import type { Answer } from "../model/scripted-server.ts";
import { calls, callsTogether, says, scriptedProvider } from "./scripted-provider.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

type Step = readonly [content: string, status: "pending" | "in_progress" | "completed"];

const plan = (id: string, ...steps: readonly Step[]) =>
  calls(id, "write_todos", { todos: steps.map(([content, status]) => ({ content, status })) });

async function eventsOfPlans(...answers: readonly Answer[]) {
  const { server, options } = await scriptedProvider(...answers, says("Done"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const files = {
    ".cognition/agents/lead.md": "---\nsubagents: [worker]\n---\nLead.\n",
    ".cognition/agents/worker.md": "---\nmode: subagent\n---\nWork.\n",
  };
  const started = await startRuntime({ ...options, files, session: { agent_name: "lead" } });
  const events = await say(started, "Go");
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  return events;
}

it("a plan is told when it has changed, and not when it was only written again", async () => {
  const begun: Step[] = [
    ["Read", "in_progress"],
    ["Write", "pending"],
  ];
  const events = await eventsOfPlans(
    plan("a", ...begun),
    plan("b", ...begun),
    plan("c", ...begun, ["Test", "pending"]),
  );
  expect(dataOf(events, "planning").map(({ todos }) => todos)).toEqual([
    ["Read", "Write"],
    ["Read", "Write", "Test"],
  ]);
});

it("each step is told as complete once, also where two of them have the same words", async () => {
  const events = await eventsOfPlans(
    plan("a", ["Test", "completed"], ["Mend", "in_progress"], ["Test", "pending"]),
    plan("b", ["Test", "completed"], ["Mend", "completed"], ["Test", "in_progress"]),
    plan("c", ["Test", "completed"], ["Mend", "completed"], ["Test", "completed"]),
  );
  const told = dataOf(events, "step_complete").map(({ step_number, description }) => [step_number, description]);
  expect(told).toEqual([
    [1, "Test"],
    [2, "Mend"],
    [3, "Test"],
  ]);
});

it("a subagent's plan is told as its own, and takes nothing from that of whoever called it", async () => {
  const events = await eventsOfPlans(
    plan("a", ["Look", "in_progress"]),
    callsTogether(["t", "task", { subagent_type: "worker", description: "Look" }]),
    plan("b", ["Look", "pending"]),
    plan("c", ["Look", "completed"]),
    says("Looked"),
    plan("d", ["Look", "completed"]),
  );
  expect(dataOf(events, "planning").map(({ agent }) => agent)).toEqual([undefined, "worker", "worker", undefined]);
  expect(dataOf(events, "step_complete").map(({ agent }) => agent)).toEqual(["worker", undefined]);
});
