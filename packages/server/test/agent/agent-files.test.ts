import { symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgentFiles } from "../../src/agent/agent-files.ts";
import type { AgentRegistry } from "../../src/agent/agent-registry.ts";
import type { KnownNames } from "../../src/agent/definition-check.ts";
import { createWorkspace, type Workspace } from "../tool/workspace.ts";
import { openRegistry } from "./open-registry.ts";

let workspace: Workspace;
let registry: AgentRegistry;

beforeEach(async () => {
  workspace = await createWorkspace();
  registry = await openRegistry(workspace.root);
});
afterEach(async () => {
  await workspace.dispose();
});

const put = (files: Record<string, string>) =>
  workspace.write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`.cognition/agents/${name}`, text])));
const names = async () => (await registry.list()).agents.map(({ name }) => name);

describe("agent files", () => {
  it("of Markdown: front matter and prompt", async () => {
    await workspace.write({
      ".cognition/skills/law/SKILL.md": "---\nname: law\ndescription: About licenses\n---\nRead.",
    });
    await put({
      "researcher.md": `---
description: Finds things out
mode: subagent
tools: [read_file, grep]
skills:
  - law
memory: [docs/NOTES.md]
middleware: [audit]
interrupt_on:
  grep: true
model: gpt-x
config:
  temperature: 0.2
  provider: openai
response_format:
  type: object
  properties: { answer: { type: string } }
---

You find things out.

---
Not the front matter.
`,
    });
    expect(await registry.problems()).toEqual([]);
    expect(await registry.get("researcher")).toEqual({
      name: "researcher",
      description: "Finds things out",
      mode: "subagent",
      system_prompt: "You find things out.\n\n---\nNot the front matter.",
      tools: ["read_file", "grep"],
      skills: ["law"],
      subagents: [],
      memory: ["docs/NOTES.md"],
      middleware: ["audit"],
      interrupt_on: { grep: true },
      model: "gpt-x",
      config: { temperature: 0.2, provider: "openai" },
      response_format: { type: "object", properties: { answer: { type: "string" } } },
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
      source: "file",
    });
  });

  it("of YAML, with \\r\\n and a byte order mark, under a name of their own", async () => {
    await put({
      "a.yaml": "name: alpha\r\nsystem_prompt: |\r\n  You are alpha.\r\nsubagents: ['*']\r\n",
      "b.yml": "system_prompt: You are b.\n",
      "c.md": "\ufeff---\r\ndescription: c\r\n---\r\nYou are c.\r\n",
    });
    expect(await registry.problems()).toEqual([]);
    expect(await names()).toEqual(["alpha", "b", "c", "default", "readonly"]);
    expect((await registry.get("c")).system_prompt).toBe("You are c.");
  });

  it.each([
    ["no front matter", "x.md", "You are x.", 1, "must begin with front matter"],
    ["no closing fence", "x.md", "---\ndescription: x\n\nYou are x.", 1, "no closing line"],
    ["an empty prompt", "x.md", "---\ndescription: x\n---\n\n \n", 3, "the prompt is empty"],
    ["an empty prompt", "x.yaml", "description: x\nsystem_prompt: ''\n", 2, "the prompt is empty"],
    ["no prompt", "x.yaml", "description: x\n", 1, "the prompt is empty"],
    ["broken YAML", "x.md", "---\ndescription: x\ntools: [a\nmode: all\n---\nYou.", 4, "x.md:4"],
    ["a key twice", "x.md", "---\nmode: all\nmode: primary\n---\nYou.", 3, "unique"],
    ["no mapping", "x.yaml", "- a\n- b\n", 1, "must be a mapping"],
    ["an unknown key", "x.md", "---\nmode: all\ntool: [ls]\n---\nYou.", 3, 'unknown key "tool" (valid: '],
    [
      "an unknown key in config",
      "x.md",
      "---\nconfig:\n  temperature: 1\n  temprature: 1\n---\nYou.",
      4,
      '"temprature"',
    ],
    ["a prompt in two places", "x.md", "---\nsystem_prompt: x\n---\nYou.", 2, '"system_prompt"'],
    ["a wrong type", "x.md", "---\nmode: all\ntools: ls\n---\nYou.", 3, "tools"],
    ["tools of which none is left", "x.md", "---\nmode: all\ntools:\n#  - ls\n---\nYou.", 3, "tools has no value"],
    ["a wrong value", "x.md", "---\ndescription: x\nmode: sub\n---\nYou.", 3, "mode"],
    ["a wrong number", "x.md", "---\nconfig:\n  max_tokens: 10\n  temperature: 9\n---\nYou.", 4, "temperature"],
    ["a wrong decision", "x.md", "---\ninterrupt_on:\n  ls: true\n  grep: maybe\n---\nYou.", 4, "interrupt_on.grep"],
    [
      "a decision that there is not",
      "x.md",
      "---\ninterrupt_on:\n  grep: {allowed_decisions: [aprove]}\n---\nYou.",
      3,
      "a decision is one of approve, edit, reject, respond",
    ],
    ["a bad name", "x y.md", "---\nmode: all\n---\nYou.", 1, "can't be an agent's name"],
    [
      "an unknown tool",
      "x.md",
      "---\ntools:\n  - ls\n  - raed_file\n---\nYou.",
      4,
      'unknown tool "raed_file" (valid: ',
    ],
    ["an unknown tool to approve", "x.md", "---\ninterrupt_on:\n  bash: true\n---\nYou.", 3, 'unknown tool "bash"'],
    ["an unknown skill", "x.md", "---\nskills: [law]\n---\nYou.", 2, 'unknown skill "law" (valid: there is none)'],
    [
      "an unknown subagent",
      "x.md",
      "---\nmode: all\nsubagents:\n  - readonly\n  - nobody\n---\nYou.",
      5,
      'subagent "nobody"',
    ],
    ["a subagent that is primary", "x.md", "---\nsubagents: [default]\n---\nYou.", 2, "its mode is primary"],
    ["itself as subagent", "x.md", "---\nsubagents: [x]\n---\nYou.", 2, "delegate to itself"],
    ["unknown middleware", "x.md", "---\nmiddleware: [log]\n---\nYou.", 2, 'middleware "log" (valid: audit)'],
    [
      "an unknown provider",
      "x.md",
      "---\nconfig:\n  provider: opnai\n---\nYou.",
      3,
      'model provider "opnai" (valid: main, openai)',
    ],
    ["memory outside", "x.md", "---\nmemory:\n  - ok.md\n  - ../../etc/passwd\n---\nYou.", 4, "inside the workspace"],
    ["no schema", "x.md", "---\nresponse_format:\n  type: strng\n---\nYou.", 2, "response_format: not a JSON Schema"],
    ["a schema of no object", "x.md", "---\nresponse_format: {type: string}\n---\nYou.", 2, "schema of an object"],
    [
      "the name of a built-in agent",
      "x.md",
      "---\nmode: all\nname: default\n---\nYou.",
      3,
      "taken by a built-in agent",
    ],
    [
      "aliases that multiply",
      "x.yaml",
      `a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]`,
      1,
      "x.yaml:1",
    ],
    ["bytes that are no text", "x.md", "\ud800", 1, "must begin"],
  ])("with %s (%s) are refused with file and line, the others stay", async (_name, file, text, line, message) => {
    await put({ [file]: text, "good.md": "---\ndescription: g\n---\nYou are good." });
    expect(await names()).toEqual(["default", "good", "readonly"]);
    const problems = await registry.problems();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ file: `.cognition/agents/${file}`, line });
    expect(problems[0]?.message).toContain(`.cognition/agents/${file}:${line}: `);
    expect(problems[0]?.message).toContain(message);
  });

  it("nested deeper than any parser goes are a problem like another", async () => {
    await put({ "x.yaml": `tools: ${"[".repeat(100_000)}`, "good.md": "---\ndescription: g\n---\nYou." });
    expect(await names()).toEqual(["default", "good", "readonly"]);
    expect(await registry.problems()).toMatchObject([{ file: ".cognition/agents/x.yaml" }]);
  });

  it("in a folder that can't be read any more stay in force", async () => {
    await put({ "a.md": "---\ndescription: a\n---\nA." });
    expect(await names()).toContain("a");
    await workspace.remove(".cognition/agents");
    await symlink("agents", workspace.path(".cognition/agents"));
    expect(await names()).toContain("a");
    expect(await registry.problems()).toMatchObject([
      { file: ".cognition/agents", message: expect.stringContaining("ELOOP") },
    ]);
  });

  it("may name each other", async () => {
    await put({
      "a.md": "---\nsubagents: [b]\n---\nA.",
      "b.md": "---\nsubagents: [a]\n---\nB.",
    });
    expect(await registry.problems()).toEqual([]);
    expect((await registry.resolveForSession("a")).delegates).toEqual({ a: ["b"], b: [] });
  });

  it("that name a broken one are refused with it, not before", async () => {
    await put({ "a.md": "---\nsubagents: [b]\n---\nA.", "b.md": "---\nmode: what\n---\nB." });
    expect(await names()).toEqual(["default", "readonly"]);
    expect((await registry.problems()).map(({ file }) => file)).toEqual([
      ".cognition/agents/b.md",
      ".cognition/agents/a.md",
    ]);
    await put({ "b.md": "---\nmode: all\n---\nB." });
    expect(await names()).toEqual(["a", "b", "default", "readonly"]);
  });

  it("of one name: the first has it, until it goes; one that comes later does not take it", async () => {
    await put({ "b.md": "---\nname: x\n---\nB." });
    expect((await registry.get("x")).system_prompt).toBe("B.");
    await put({ "a.yaml": "name: x\nsystem_prompt: A." });
    expect((await registry.get("x")).system_prompt).toBe("B.");
    expect(await registry.problems()).toMatchObject([
      {
        file: ".cognition/agents/a.yaml",
        line: 1,
        message: expect.stringContaining("taken by .cognition/agents/b.md"),
      },
    ]);
    const fresh = await openRegistry(workspace.root);
    expect((await fresh.get("x")).system_prompt).toBe("A.");
    await workspace.remove(".cognition/agents/b.md");
    expect((await registry.get("x")).system_prompt).toBe("A.");
    expect(await registry.problems()).toEqual([]);
  });
});

it("a file's agent is given up where its name becomes a built-in one's, whatever it was before", async () => {
  await put({ "x.md": "---\ndescription: x\n---\nX." });
  const files = createAgentFiles({ root: workspace.root });
  const none = { tools: [], skills: [], middleware: [], providers: [] };
  const known = (...taken: string[]): KnownNames => ({
    ...{ ...none, hasTool: () => true },
    agents: new Map(taken.map((name) => [name, { mode: "all" }])),
  });
  expect((await files.refresh(known())).definitions).toMatchObject([{ name: "x" }]);
  const { definitions, problems } = await files.refresh(known("x"));
  expect(definitions).toEqual([]);
  expect(problems[0]).toMatchObject({ message: expect.stringContaining("taken by a built-in agent") });
});

describe("a change", () => {
  it("is in force at the next use, with another revision", async () => {
    await put({ "a.md": "---\ndescription: a\n---\nOne." });
    const one = await registry.resolveForSession("a");
    await put({ "a.md": "---\ndescription: a\n---\nTwo." });
    const two = await registry.resolveForSession("a");
    expect([one.definition.system_prompt, two.definition.system_prompt]).toEqual(["One.", "Two."]);
    expect(two.revision).not.toBe(one.revision);
    expect(await registry.at(one.revision)).toEqual(one);
    await put({ "a.md": "---\ndescription: a\n---\nOne." });
    expect((await registry.resolveForSession("a")).revision).toBe(one.revision);
    await workspace.remove(".cognition/agents/a.md");
    await expect(registry.resolveForSession("a")).rejects.toMatchObject({ code: "unknown_agent" });
    expect(await registry.at(two.revision)).toEqual(two);
  });

  it.each([
    ["broken text", "---\nmode: what\n---\nTwo."],
    ["an unknown tool", "---\ntools: [nothing]\n---\nTwo."],
    ["a name that is taken", "---\nname: readonly\n---\nTwo."],
  ])("to %s leaves the former revision in force, and is reported", async (_name, text) => {
    await put({ "a.md": "---\ndescription: a\n---\nOne." });
    const one = await registry.resolveForSession("a");
    await put({ "a.md": text });
    expect(await registry.resolveForSession("a")).toEqual(one);
    expect(await registry.resolveForSession("a")).toEqual(one);
    expect(await registry.problems()).toHaveLength(1);
  });

  it("of what it names leaves it in force, reported; using it says what is missing", async () => {
    await put({ "a.md": "---\nsubagents: [b]\n---\nA.", "b.md": "---\nmode: all\n---\nB." });
    await registry.resolveForSession("a");
    await workspace.remove(".cognition/agents/b.md");
    expect(await names()).toContain("a");
    expect(await registry.problems()).toMatchObject([{ file: ".cognition/agents/a.md", line: 2 }]);
    await expect(registry.resolveForSession("a")).rejects.toMatchObject({
      code: "unknown_agent",
      message: expect.stringContaining("subagent b, which does not exist any more"),
    });
    expect((await registry.resolveForSession("default")).subagents.map(({ name }) => name)).toEqual(["a", "readonly"]);
  });

  it("of a subagent's prompt changes the revision of those who reach it", async () => {
    await put({ "a.md": "---\nsubagents: [b]\n---\nA.", "b.md": "---\nmode: all\n---\nB." });
    const before = await registry.resolveForSession("a");
    await put({ "b.md": "---\nmode: all\n---\nAnother." });
    const after = await registry.resolveForSession("a");
    expect(after.revision).not.toBe(before.revision);
    expect((await registry.at(before.revision)).subagents[0]?.system_prompt).toBe("B.");
  });
});
