import { expect, it, onTestFinished } from "vitest";
import { openai } from "../model/openai-server.ts";
import type { Answer } from "../model/scripted-server.ts";
import { says, scriptedProvider } from "./scripted-provider.ts";
import { dataOf, eventsOf, interruptsIn, type Started, say, send, startRuntime } from "./started-runtime.ts";

const CAREFUL = "---\ndescription: Asks\ninterrupt_on: {execute: true}\n---\nYou work.\n";
const files = { ".cognition/agents/careful.md": CAREFUL };
const CALLS = [
  ["c1", "execute", { command: "echo one" }],
  ["c2", "ls", { path: "/" }],
  ["c3", "execute", { command: "echo three" }],
  ["c4", "execute", { command: "echo four" }],
] as const;

function callsTogether(): Answer {
  const pieces = CALLS.flatMap(([id, name, args], n) => [
    openai.toolStart(n, id, name),
    openai.toolArgs(n, JSON.stringify(args)),
  ]);
  return openai.stream(openai.start, ...pieces, openai.finish("tool_calls"), openai.done);
}

/** Of four calls one needs no approval, one is approved, one answered by a human, and one still waits when the run is aborted. */
async function startAborted(...answers: Answer[]) {
  const { server, options } = await scriptedProvider(callsTogether(), ...answers);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const started = await startRuntime({ files, session: { agent_name: "careful" }, ...options });
  const asked = await say(started, "Go");
  const idOf = (call: string) => interruptsIn(asked).find(({ tool_call_id }) => tool_call_id === call)?.id ?? "";
  const [c1, c3] = [idOf("c1"), idOf("c3")];
  const decisions = {
    [c1]: { id: c1, type: "approve" },
    [c3]: { id: c3, type: "respond", message: "I did it." },
  };
  const run_id = asked[0]?.run_id ?? "";
  const after = await started.storage.lastEventId(started.session.id);
  await started.runtime.engine.answer(run_id, { kind: "answers", answers: decisions });
  await eventsOf(started, run_id, after);
  await started.runtime.engine.abort(started.session.id);
  return { started, server };
}

const closed = [
  ["assistant", ""],
  ["tool", expect.stringContaining("one")],
  ["tool", "No files found in /"],
  ["tool", "I did it."],
  ["tool", "execute: It was not started: the run was stopped before."],
];

/** A run that waits for its model is aborted there. */
async function stopAtModel(started: Started, run_id: string, asked: () => number, requests: number): Promise<void> {
  await expect.poll(asked).toBe(requests);
  await started.runtime.engine.abort(started.session.id);
  expect(dataOf(await eventsOf(started, run_id), "done")).toMatchObject([{ status: "aborted" }]);
}

async function said({ storage, session }: Started): Promise<unknown[]> {
  return (await storage.listMessagesForSession(session.id)).map(({ role, content }) => [role, content]);
}

it("what came to its end beside a call that waited keeps its result, though the run was aborted there", async () => {
  const { started, server } = await startAborted(says("Well."));
  await say(started, "And now?");
  expect(await said(started)).toEqual([["user", "Go"], ...closed, ["user", "And now?"], ["assistant", "Well."]]);
  const told = JSON.stringify(server.requests.at(-1)?.body["messages"]);
  expect([told.includes("I did it."), told.split("It was not started").length]).toEqual([true, 2]);
  expect(await started.storage.rebuildMessages(started.session.id)).toMatchObject({
    repaired: 0,
    added: 0,
    removed: 0,
  });
});

it("also where the next run was stopped before its model answered", async () => {
  const { started, server } = await startAborted(openai.stream(openai.start, { type: "hang" }), says("Well."));
  await stopAtModel(started, await send(started, "And now?"), () => server.requests.length, 2);
  await say(started, "Well?");
  const asked = [
    ["user", "And now?"],
    ["user", "Well?"],
  ];
  expect(await said(started)).toEqual([["user", "Go"], ...closed, ...asked, ["assistant", "Well."]]);
  expect(started.errors).toEqual([]);
});

it("and where the run that went on after that one was stopped, too: no result stands behind another message", async () => {
  const hangs = openai.stream(openai.start, { type: "hang" });
  const { started, server } = await startAborted(hangs, hangs, says("Well."));
  const requests = () => server.requests.length;
  await stopAtModel(started, await send(started, "And now?"), requests, 2);
  const { run } = await started.runtime.engine.submit({ session_id: started.session.id, input: { kind: "continue" } });
  await stopAtModel(started, run.id, requests, 3);
  await say(started, "Well?");
  const asked = [
    ["user", "And now?"],
    ["user", "Well?"],
  ];
  expect(await said(started)).toEqual([["user", "Go"], ...closed, ...asked, ["assistant", "Well."]]);
});
