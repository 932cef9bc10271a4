import { expect, it } from "vitest";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { answer, dataOf, eventsOf, say, startRuntime } from "./started-runtime.ts";

const ANALYST = `---
description: Answers in a form
response_format:
  type: object
  properties:
    city: {type: string}
    inhabitants: {type: integer}
  required: [city, inhabitants]
  additionalProperties: false
---
You answer questions about cities.
`;
const files = {
  ".cognition/agents/analyst.md": ANALYST,
  ".cognition/agents/asker.md": "---\ndescription: Asks\nsubagents: [analyst]\n---\nYou ask.\n",
};
const session = { agent_name: "analyst" };

it("the offline model fills it, and done has it", async () => {
  const started = await startRuntime({ files, session });
  const [done] = dataOf(await say(started, "The city is Bonn, inhabitants: 330000"), "done");
  expect(done).toMatchObject({ status: "succeeded", structured_response: { city: "Bonn", inhabitants: 330_000 } });
  const [again] = dataOf(await say(started, "The city is Ulm, inhabitants: 128000"), "done");
  expect(again).toMatchObject({ structured_response: { city: "Ulm", inhabitants: 128_000 } });
});

it("an agent that delegates gets it as text, and has no such answer itself", async () => {
  const started = await startRuntime({ files, session: { agent_name: "asker" } });
  const events = await say(started, "Delegate to analyst: The city is Bonn, inhabitants: 330000");
  expect(dataOf(events, "tool_result").at(-1)?.["output"]).toBe('{"city":"Bonn","inhabitants":330000}');
  expect(dataOf(events, "done")[0]).not.toHaveProperty("structured_response");
});

it("a model that answers wrongly, then in prose, then rightly is heard in the end", async () => {
  const { server, options } = await scriptedProvider(
    calls("c1", "structured_response", { city: "Bonn", inhabitants: "many" }),
    says("Bonn", " has", " many."),
    calls("c2", "structured_response", { city: "Bonn", inhabitants: 330_000 }),
  );
  await using _ = server;
  const started = await startRuntime({ files, session, ...options });
  const events = await say(started, "How many live in Bonn?");
  expect(dataOf(events, "done")).toMatchObject([
    { status: "succeeded", structured_response: { city: "Bonn", inhabitants: 330_000 } },
  ]);
  expect(server.requests.map(({ body }) => body["tool_choice"])).toEqual(["required", "required", "required"]);
  expect(dataOf(events, "tool_result").map(({ outcome }) => outcome)).toEqual(["error", "ok"]);
});

it("whose pattern would take hours to say no ends the run with a clear error, and holds nobody up", async () => {
  const slow = ANALYST.replace("city: {type: string}", 'city: {type: string, pattern: "^(a+)+$"}');
  const started = await startRuntime({ files: { ".cognition/agents/analyst.md": slow }, session });
  const events = await say(started, `The city is ${"a".repeat(60)}X, inhabitants: 1`);
  expect(JSON.stringify(dataOf(events, "tool_result")[0])).toContain("must be simpler");
  expect(dataOf(events, "error")).toMatchObject([{ code: "response_format_failed" }]);
});

it("a model that never obeys is asked three times; then the run fails with a clear error, and the thread goes on", async () => {
  const { server, options } = await scriptedProvider(says("No."));
  await using _ = server;
  const started = await startRuntime({ files, session, ...options });
  const events = await say(started, "How many live in Bonn?");
  expect(server.requests).toHaveLength(3);
  expect(dataOf(events, "error")).toMatchObject([
    { code: "response_format_failed", message: expect.stringContaining("in 3 tries") },
  ]);
  server.script(calls("c3", "structured_response", { city: "Ulm", inhabitants: 1 }));
  expect(dataOf(await say(started, "And Ulm?"), "done")).toMatchObject([{ structured_response: { city: "Ulm" } }]);
});

it("counts answers that do not fit the same way", async () => {
  const { server, options } = await scriptedProvider(calls("c1", "structured_response", { city: 1 }));
  await using _ = server;
  const started = await startRuntime({ files, session, ...options });
  const events = await say(started, "How many live in Bonn?");
  expect(server.requests).toHaveLength(3);
  expect(dataOf(events, "error")).toMatchObject([{ code: "response_format_failed" }]);
});

it("a run that was given up for it is resumed with three tries more, as by another model", async () => {
  const { server, options } = await scriptedProvider(calls("c1", "structured_response", { city: 1 }));
  await using _ = server;
  const started = await startRuntime({ files, session, ...options });
  expect(dataOf(await say(started, "How many live in Bonn?"), "done")).toMatchObject([{ status: "failed" }]);
  server.script(
    calls("c2", "structured_response", { city: 2 }),
    calls("c3", "structured_response", { city: "Bonn", inhabitants: 330_000 }),
  );
  const { run } = await started.runtime.engine.submit({ session_id: started.session.id, input: { kind: "continue" } });
  expect(dataOf(await eventsOf(started, run.id), "done")).toMatchObject([
    { status: "succeeded", structured_response: { city: "Bonn", inhabitants: 330_000 } },
  ]);
});

it("what a human says about it is not the answer: the model gives another one", async () => {
  const { server, options } = await scriptedProvider(
    calls("c1", "structured_response", { city: "Bonn", inhabitants: 1 }),
    calls("c2", "structured_response", { city: "Bonn", inhabitants: 330_000 }),
  );
  await using _ = server;
  const asking = ANALYST.replace("response_format:", "interrupt_on: {structured_response: true}\nresponse_format:");
  const started = await startRuntime({ files: { ".cognition/agents/analyst.md": asking }, session, ...options });
  const asked = await say(started, "Bonn");
  const again = await answer(started, asked, { type: "respond", message: "There are more of them." });
  expect(JSON.stringify(server.requests.at(-1)?.body["messages"])).toContain("There are more of them.");
  const [done] = dataOf(await answer(started, again, { type: "approve" }), "done");
  expect(done).toMatchObject({ status: "succeeded", structured_response: { city: "Bonn", inhabitants: 330_000 } });
});
