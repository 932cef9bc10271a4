import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { answer, dataOf, interruptsIn, say, startRuntime } from "./started-runtime.ts";

const agent = (fields: string) => `---\n${fields}\n---\nYou do what you are told.\n`;
const files = {
  ".cognition/agents/lead.md": agent("description: Leads\nsubagents: [editor]"),
  ".cognition/agents/editor.md": agent("description: Edits\nmode: subagent\nsubagents: [typist, lead2]"),
  ".cognition/agents/typist.md": agent("description: Types\nmode: subagent\ninterrupt_on: {execute: true}"),
  ".cognition/agents/lead2.md": agent("description: Leads too\nsubagents: [editor]"),
};
const deep = (work: string) => `Delegate to editor: Delegate to typist: ${work}`;

it("an agent delegates to one that delegates on; every event names who works", async () => {
  const started = await startRuntime({ files, session: { agent_name: "lead" } });
  const events = await say(started, deep("Create a file named deep.txt containing exactly the word yes"));
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(readFileSync(join(started.folder, "deep.txt"), "utf8")).toBe("yes");
  const delegations = dataOf(events, "delegation").map(({ agent, target_agent }) => [agent, target_agent]);
  expect(delegations).toEqual([
    [undefined, "editor"],
    ["editor", "typist"],
  ]);
  const calls = dataOf(events, "tool_call").map(({ agent, name }) => [agent, name]);
  expect(calls).toEqual([
    [undefined, "task"],
    ["editor", "task"],
    ["typist", "write_file"],
  ]);
  const results = dataOf(events, "tool_result").map(({ agent, outcome }) => [agent, outcome]);
  expect(results).toEqual([
    ["typist", "ok"],
    ["editor", "ok"],
    [undefined, "ok"],
  ]);
  const speakers = new Set(dataOf(events, "token").map(({ agent }) => agent));
  expect(speakers).toEqual(new Set(["typist", "editor", undefined]));
  const [call] = await started.storage.listToolCalls(events[0]?.run_id ?? "");
  expect(call).toMatchObject({ name: "write_file", status: "ok" });
  expect(call?.checkpoint_ns.split("|").length).toBeGreaterThan(2);
});

it("asks for approval at any depth, and goes on there", async () => {
  const started = await startRuntime({ files, session: { agent_name: "lead" } });
  const asked = await say(started, deep("Run the command: touch made.txt"));
  expect(interruptsIn(asked)).toMatchObject([
    { agent: "typist", tool_name: "execute", args: { command: "touch made.txt" } },
  ]);
  expect(existsSync(join(started.folder, "made.txt"))).toBe(false);
  const events = await answer(started, asked, { type: "approve" });
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(dataOf(events, "tool_result")).toMatchObject([
    { agent: "typist", outcome: "ok", exit_code: 0 },
    { agent: "editor" },
    {},
  ]);
  expect(existsSync(join(started.folder, "made.txt"))).toBe(true);
});

it("a circle of delegation is cut where it would close", async () => {
  const started = await startRuntime({ files, session: { agent_name: "lead2" } });
  const events = await say(started, "Delegate to editor: Delegate to lead2: List the files in this directory.");
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(dataOf(events, "delegation").map(({ target_agent }) => target_agent)).toEqual(["editor"]);
});

it("readonly reaches no writer, whatever it asks for, at any depth", async () => {
  const reader = {
    ".cognition/agents/reader.md": agent(
      "description: Reads\nmode: subagent\ntools: [read_file, ls]\nsubagents: [writer]",
    ),
    ".cognition/agents/writer.md": agent("description: Writes\nmode: subagent"),
    ".cognition/agents/looker.md": agent("description: Looks\nmode: subagent\ntools: [read_file, ls]"),
  };
  const started = await startRuntime({ files: reader, session: { agent_name: "readonly" } });
  const { delegates } = await started.runtime.agents.resolveForSession("readonly");
  expect(delegates).toEqual({ readonly: ["looker"], looker: [] });
  for (const name of ["writer", "reader", "general-purpose"]) {
    await say(started, `Delegate to ${name}: Create a file named bad.txt containing exactly the word x`);
  }
  const work =
    '{"description": "Create a file named bad.txt containing exactly the word x", "subagent_type": "writer"}';
  const events = await say(started, `Use the task tool with ${work}`);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(existsSync(join(started.folder, "bad.txt"))).toBe(false);
});

it("a delegation without a task is explained, has a result, and tells nothing of the server's insides", async () => {
  const { server, options } = await scriptedProvider(
    calls("c1", "task", { subagent_type: "general-purpose" }),
    says("I could not."),
  );
  await using _ = server;
  const started = await startRuntime(options);
  const events = await say(started, "Go");
  expect(dataOf(events, "tool_result")).toMatchObject([{ tool_call_id: "c1", outcome: "denied" }]);
  expect(dataOf(events, "delegation")).toEqual([]);
  const { messages } = await started.storage.getMessagesBySession(started.session.id);
  expect(JSON.stringify(messages)).not.toMatch(/node_modules|\.js:\d/);
});

it("a delegation that a human edits to somebody whom there is not is told as such, and the run goes on", async () => {
  const task = { description: "Go", subagent_type: "editor" };
  const { server, options } = await scriptedProvider(calls("c1", "task", task), says("I could not."));
  await using _ = server;
  const asking = { ...files, ".cognition/agents/lead.md": agent("subagents: [editor]\ninterrupt_on: {task: true}") };
  const started = await startRuntime({ ...options, files: asking, session: { agent_name: "lead" } });
  const asked = await say(started, "Go");
  const events = await answer(started, asked, { type: "edit", args: { ...task, subagent_type: "nobody" } });
  expect(dataOf(events, "tool_result")).toMatchObject([
    { outcome: "denied", output: expect.stringContaining("general-purpose, editor") },
  ]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
});
