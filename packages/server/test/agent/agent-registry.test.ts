import { CreateAgent, ReplaceAgent, UpdateAgent } from "@cognition/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentRegistry } from "../../src/agent/agent-registry.ts";
import { scopeChain } from "../../src/agent/scope-chain.ts";
import { createWorkspace, type Workspace } from "../tool/workspace.ts";
import { definitionOf } from "./agent-store-contract.ts";
import { openAgentStore, openRegistry } from "./open-registry.ts";

let workspace: Workspace;
let registry: AgentRegistry;

beforeEach(async () => {
  workspace = await createWorkspace();
  registry = await openRegistry(workspace.root);
});
afterEach(async () => {
  await workspace.dispose();
});

const create = (name: string, given: object = {}, scope = {}) =>
  registry.create(CreateAgent.parse({ name, system_prompt: `You are ${name}.`, ...given }), scope);
const ann = { user: "ann", project: "p" };

describe("built-in agents", () => {
  it("are there, and readonly has only tools that change nothing", async () => {
    expect((await registry.list()).agents.map(({ name, source, mode }) => [name, source, mode])).toEqual([
      ["default", "builtin", "primary"],
      ["readonly", "builtin", "all"],
    ]);
    const { tools } = await registry.get("readonly");
    expect(tools).toEqual([
      "browser",
      "glob",
      "grep",
      "inspect_package",
      "list_artifacts",
      "ls",
      "present_plan",
      "read_artifact",
      "read_file",
      "read_skill",
      "recall",
      "search",
      "structured_response",
      "task",
      "write_todos",
    ]);
    expect((await registry.get("default")).tools).toBeNull();
  });

  it("can't be changed, nor their names taken", async () => {
    await expect(create("default")).rejects.toMatchObject({ code: "already_exists" });
    await expect(registry.replace("readonly", ReplaceAgent.parse({}))).rejects.toMatchObject({ code: "not_writable" });
    await expect(registry.update("default", {})).rejects.toMatchObject({ code: "not_writable" });
    await expect(registry.delete("default")).rejects.toMatchObject({ code: "not_writable" });
  });

  it("those that the configuration registers are as fixed", async () => {
    const store = await openAgentStore();
    const before = await openRegistry(workspace.root, { store });
    await before.create(CreateAgent.parse({ name: "graph", system_prompt: "From when there was none." }));
    const registered = [definitionOf("graph", { source: "builtin" })];
    const own = await openRegistry(workspace.root, { store, registered });
    expect((await own.resolveForSession("graph")).definition).toMatchObject({ name: "graph", source: "builtin" });
    await own.delete("graph"); // what was made before may go
    await expect(own.delete("graph")).rejects.toMatchObject({ code: "not_writable" });
  });
});

describe("the API's agents", () => {
  it("are made, read, replaced, changed and deleted", async () => {
    const made = await create("a", { description: "first", tools: ["ls"] });
    expect(made).toMatchObject({ name: "a", description: "first", tools: ["ls"], source: "api" });
    expect(await registry.get("a")).toEqual(made);
    const replaced = await registry.replace("a", ReplaceAgent.parse({ system_prompt: "Other." }));
    expect(replaced).toMatchObject({ description: "", tools: null, system_prompt: "Other." });
    const changed = await registry.update("a", UpdateAgent.parse({ description: "third" }));
    expect(changed).toMatchObject({ description: "third", system_prompt: "Other." });
    expect(new Set([made.revision, replaced.revision, changed.revision]).size).toBe(3);
    await registry.delete("a");
    await expect(registry.get("a")).rejects.toMatchObject({ code: "agent_not_found" });
    await expect(registry.delete("a")).rejects.toMatchObject({ code: "agent_not_found" });
    await expect(registry.update("a", {})).rejects.toMatchObject({ code: "agent_not_found" });
    await expect(registry.replace("a b", ReplaceAgent.parse({}))).rejects.toMatchObject({ code: "validation_failed" });
  });

  it("are refused with everything they name in vain, and nothing is stored", async () => {
    await expect(create("a", { tools: ["nope"], skills: ["law"], subagents: ["b"] })).rejects.toMatchObject({
      code: "unknown_tool",
      details: {
        errors: [
          { loc: ["body", "tools", 0], msg: expect.stringContaining('"nope"') },
          { loc: ["body", "skills", 0], msg: expect.stringContaining('"law"') },
          { loc: ["body", "subagents", 0], msg: expect.stringContaining('"b"') },
        ],
      },
    });
    await create("a");
    await expect(registry.update("a", { subagents: ["b"] })).rejects.toMatchObject({ code: "unknown_agent" });
    for (const config of [{ provider: "x" }, { provider_id: "x" }])
      await expect(registry.update("a", { config })).rejects.toMatchObject({ code: "unknown_provider" });
    const response_format = { type: "object", description: "x".repeat(100_000) };
    await expect(registry.update("a", { response_format })).rejects.toMatchObject({
      code: "validation_failed",
      message: expect.stringContaining("100000 characters"),
    });
    expect((await registry.get("a")).subagents).toEqual([]);
  });

  it("can't take a name twice, nor a file's; the file's stays the file's", async () => {
    await workspace.write({ ".cognition/agents/f.md": "---\ndescription: f\n---\nFile." });
    await create("a");
    await expect(create("a")).rejects.toMatchObject({ code: "already_exists" });
    await expect(create("f", {}, ann)).rejects.toMatchObject({ code: "already_exists" });
    await expect(registry.replace("f", ReplaceAgent.parse({}))).rejects.toMatchObject({ code: "not_writable" });
    await expect(registry.delete("f")).rejects.toMatchObject({ code: "not_writable" });
  });

  it("that were there before a file of the same name stay in force; the file is reported", async () => {
    await create("f", { description: "api" });
    await workspace.write({ ".cognition/agents/f.md": "---\ndescription: file\n---\nFile." });
    expect(await registry.get("f")).toMatchObject({ description: "api", source: "api" });
    expect(await registry.problems()).toMatchObject([{ file: ".cognition/agents/f.md", code: "already_exists" }]);
    await registry.delete("f");
    expect(await registry.get("f")).toMatchObject({ description: "file", source: "file" });
    expect(await registry.problems()).toEqual([]);
  });

  it("of racing writers one wins, and the other is told", async () => {
    const results = await Promise.allSettled([create("a"), create("a"), create("a")]);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const changes = ["1", "2", "3"].map((description) => registry.update("a", { description }));
    const refused = (await Promise.allSettled(changes)).filter((result) => result.status === "rejected");
    expect(refused.map(({ reason }) => reason.code)).toEqual(refused.map(() => "version_conflict"));
    expect(refused.length).toBeLessThan(3);
  });
});

describe("scopes", () => {
  it("resolve from the most specific outward", async () => {
    await create("a", { description: "all" });
    await create("a", { description: "project" }, { project: "p" });
    await create("a", { description: "user" }, { user: "ann" });
    await create("a", { description: "both" }, ann);
    const seen = async (scope: Record<string, string>) => (await registry.get("a", scope)).description;
    expect(await seen(ann)).toBe("both");
    expect(await seen({ user: "ann", project: "q" })).toBe("user");
    expect(await seen({ user: "bob", project: "p" })).toBe("project");
    expect(await seen({ user: "bob", project: "q" })).toBe("all");
    await registry.delete("a", ann);
    expect(await seen(ann)).toBe("user");
  });

  it("see nothing of each other", async () => {
    await create("mine", {}, { user: "ann" });
    const bob = { user: "bob" };
    expect((await registry.list(bob)).agents.map(({ name }) => name)).toEqual(["default", "readonly"]);
    await expect(registry.get("mine", bob)).rejects.toMatchObject({ code: "agent_not_found" });
    await expect(registry.resolveForSession("mine", bob)).rejects.toThrow(
      '"mine" is not known; valid: default, readonly',
    );
    await expect(registry.delete("mine", bob)).rejects.toMatchObject({ code: "agent_not_found" });
    await expect(create("x", { subagents: ["mine"] }, bob)).rejects.toMatchObject({ code: "unknown_agent" });
    expect(await create("mine", {}, bob)).toMatchObject({ name: "mine" });
  });

  it("can't change what belongs to a wider one, but have their own", async () => {
    await create("a", { description: "all" });
    await expect(registry.update("a", { description: "x" }, ann)).rejects.toMatchObject({
      code: "not_writable",
      message: expect.stringContaining("wider scope"),
    });
    await expect(registry.delete("a", ann)).rejects.toMatchObject({ code: "not_writable" });
    await registry.replace("a", ReplaceAgent.parse({ description: "own" }), ann);
    expect((await registry.get("a", ann)).description).toBe("own");
    expect((await registry.get("a")).description).toBe("all");
  });

  it.each([
    [{}, [{}]],
    [{ a: "1" }, [{ a: "1" }, {}]],
    [{ a: "1", b: "2" }, [{ a: "1", b: "2" }, { a: "1" }, { b: "2" }, {}]],
    [
      { a: "1", b: "2", c: "3" },
      [
        ...[
          { a: "1", b: "2", c: "3" },
          { a: "1", b: "2" },
          { a: "1", c: "3" },
          { b: "2", c: "3" },
        ],
        ...[{ a: "1" }, { b: "2" }, { c: "3" }, {}],
      ],
    ],
  ])("of %j are %j", (scope, chain) => {
    expect(scopeChain(scope)).toEqual(chain);
  });

  it("of many keys are few", () => {
    const many = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, "v"]));
    expect(scopeChain(many)).toHaveLength(17);
    expect(scopeChain(many).at(-2)).toEqual({ k0: "v" });
    expect(scopeChain(Object.fromEntries(Object.entries(many).slice(0, 6)))).toHaveLength(2 ** 6);
  });
});

describe("what a session may use", () => {
  it("is no agent that can only be delegated to", async () => {
    await create("helper", { mode: "subagent" });
    await create("main", { mode: "primary" });
    await expect(registry.resolveForSession("helper")).rejects.toMatchObject({
      code: "unknown_agent",
      message: expect.stringContaining("valid: default, main, readonly"),
      details: { agent: "helper", valid: ["default", "main", "readonly"] },
    });
    await expect(registry.resolveForSession("nobody")).rejects.toMatchObject({ code: "unknown_agent" });
    expect((await registry.list({}, { mode: "subagent" })).agents.map(({ name }) => name)).toEqual(["helper"]);
  });
});

describe("what every message asks for", () => {
  it("is made once, and again when anything has changed that it is made of", async () => {
    await create("helper", { mode: "subagent" });
    const first = await registry.resolveForSession("default");
    expect(await registry.resolveForSession("default")).toBe(first);
    await registry.update("helper", { system_prompt: "Be brief." });
    const second = await registry.resolveForSession("default");
    expect(second.subagents.find(({ name }) => name === "helper")?.system_prompt).toBe("Be brief.");
    expect(await registry.resolveForSession("default")).toBe(second);
    await workspace.write({ ".cognition/agents/scout.md": "---\ndescription: Looks.\nmode: subagent\n---\nLook.\n" });
    const third = await registry.resolveForSession("default");
    expect(third.delegates["default"]).toEqual(["helper", "readonly", "scout"]);
    await workspace.write({ ".cognition/agents/scout.md": "---\ndescription: Looks.\nmode: primary\n---\nLook.\n" });
    expect((await registry.resolveForSession("default")).delegates["default"]).toEqual(["helper", "readonly"]);
  });

  it("is each scope's own, and goes by the order of its keys", async () => {
    await create("helper", { system_prompt: "Of the user." }, { user: "ann" });
    await create("helper", { system_prompt: "Of the project." }, { project: "p" });
    const promptFor = async (scope: object) =>
      (await registry.resolveForSession("helper", scope as typeof ann)).definition.system_prompt;
    expect(await promptFor({ user: "ann", project: "p" })).toBe("Of the user.");
    expect(await promptFor({ project: "p", user: "ann" })).toBe("Of the project.");
    expect(await promptFor({ user: "ann", project: "p" })).toBe("Of the user.");
    await expect(registry.resolveForSession("helper", { user: "bob" })).rejects.toMatchObject({
      code: "unknown_agent",
    });
  });
});

describe("revisions", () => {
  it("are kept by the store, and known to another node", async () => {
    const store = await openAgentStore();
    const one = await openRegistry(workspace.root, { store });
    const two = await openRegistry(workspace.root, { store });
    await one.create(CreateAgent.parse({ name: "a", system_prompt: "First." }));
    const first = await one.resolveForSession("a");
    await two.update("a", { system_prompt: "Second." });
    expect((await one.resolveForSession("a")).definition.system_prompt).toBe("Second.");
    await one.delete("a");
    expect(await two.at(first.revision)).toEqual(first);
    expect(first.revision).toBe((await two.at(first.revision)).revision);
    await expect(two.at("0".repeat(64))).rejects.toMatchObject({ code: "agent_not_found" });
  });

  it("are stored once for each scope that they are found from", async () => {
    const store = await openAgentStore();
    const saved: object[] = [];
    const saveRevision: typeof store.saveRevision = async (agent, scope) => {
      saved.push(scope);
      await store.saveRevision(agent, scope);
    };
    const own = await openRegistry(workspace.root, { store: { ...store, saveRevision } });
    for (const scope of [{}, { user: "ann" }, {}, { user: "ann" }]) await own.resolveForSession("default", scope);
    expect(saved).toEqual([{}, { user: "ann" }]);
  });

  it("are equal for equal definitions, in whatever order their keys come", async () => {
    const one = await create("a", { response_format: { type: "object", required: ["x"] } });
    await registry.delete("a");
    const two = await create("a", { response_format: { required: ["x"], type: "object" } });
    expect(two.revision).toBe(one.revision);
  });
});

describe("a list", () => {
  it("is by name, a page at a time, and others get their turn between two agents of it", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `agent${index + 10}`);
    for (const name of names) await create(name, { subagents: ["*"] });
    await registry.create(CreateAgent.parse({ name: "a", mode: "subagent" }));
    const { agents: page, total } = await registry.list({}, { mode: "all", limit: 2, offset: 1 });
    expect([page.map(({ name }) => name), total]).toEqual([["agent11", "agent12"], 31]);
    let [turns, counts] = [0, true];
    const count = () => {
      turns += 1;
      if (counts) setImmediate(count);
    };
    setImmediate(count);
    const { agents } = await registry.list();
    counts = false;
    expect(turns).toBeGreaterThanOrEqual(agents.length - 1);
  });
});
