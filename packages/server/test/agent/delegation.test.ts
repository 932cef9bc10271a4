import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/agent-definition.ts";
import { builtinAgents } from "../../src/agent/builtin-agents.ts";
import { canChange, type DelegationView, planDelegation, requireSubagents } from "../../src/agent/delegation.ts";
import { RUNTIME_TOOLS } from "../../src/tool/runtime-tools.ts";
import type { ToolSummary } from "../../src/tool/tool.ts";
import { definitionOf } from "./agent-store-contract.ts";

const mcpTool = (name: string, hinted: boolean): ToolSummary => ({
  name,
  ...{ description: "d", effect: "read", hinted, on_crash: "retry", source: "mcp", origin: "docs" },
});
const known = [...RUNTIME_TOOLS, mcpTool("docs_claims", true), mcpTool("docs_declared", false)];
const tools = new Map(known.map((tool) => [tool.name, tool]));
const viewOf = (...agents: AgentDefinition[]): DelegationView => ({
  tools,
  agents: new Map([...builtinAgents(known), ...agents].map((agent) => [agent.name, agent])),
});
const reader = (name: string, subagents: string[] = [], mode: AgentDefinition["mode"] = "all") =>
  definitionOf(name, { tools: ["read_file"], subagents, mode });
const writer = (name: string, subagents: string[] = []) => definitionOf(name, { tools: ["write_file"], subagents });

const reach = (view: DelegationView, name: string) => {
  const root = view.agents.get(name);
  if (!root) throw new Error(`no agent ${name}`);
  return planDelegation(root, view);
};
const reached = (view: DelegationView, name: string) =>
  reach(view, name)
    .subagents.map((agent) => agent.name)
    .sort();

describe("readonly", () => {
  it.each([
    ["a writer", [writer("w")]],
    ["one with every tool", [definitionOf("w")]],
    ["one that executes", [definitionOf("w", { tools: ["read_file", "execute"] })]],
    ["one with a tool that nobody knows yet", [definitionOf("w", { tools: ["server_tool"] })]],
    ["one with a tool that an MCP server only says to be harmless", [definitionOf("w", { tools: ["docs_claims"] })]],
    ["a reader that delegates to a writer", [reader("a", ["w"]), writer("w")]],
    [
      "a reader that reaches a writer over three",
      [reader("a", ["b"]), reader("b", ["c"]), reader("c", ["w"]), writer("w")],
    ],
    ["a reader that delegates to everybody", [reader("a", ["*"]), writer("w")]],
    ["a circle with a writer in it", [reader("a", ["b"]), reader("b", ["a", "w"]), writer("w", ["a"])]],
  ])("can't reach %s", (_name, agents) => {
    expect(reached(viewOf(...agents), "readonly")).toEqual([]);
  });

  it("reaches readers, and what they reach", () => {
    const view = viewOf(reader("a", ["b"]), reader("b", ["a"]), reader("c", [], "primary"), writer("w"));
    expect(reached(view, "readonly")).toEqual(["a", "b"]);
  });

  it("reaches one with an MCP server's tool that the operator says to be harmless, and has none itself", () => {
    const view = viewOf(definitionOf("a", { tools: ["docs_declared"] }));
    expect(reached(view, "readonly")).toEqual(["a"]);
    expect(view.agents.get("readonly")?.tools).not.toContain("docs_declared");
  });

  it("is no way around itself: who delegates to it can't change anything by that", () => {
    const view = viewOf(reader("a", ["readonly"]), writer("w"));
    expect(canChange(view.agents.get("a") as AgentDefinition, view)).toBe(false);
    expect(reached(view, "readonly")).toEqual(["a"]);
  });
});

describe("delegation", () => {
  it("default reaches all that are not primary", () => {
    expect(reached(viewOf(writer("w"), reader("p", [], "primary"), reader("s", [], "subagent")), "default")).toEqual([
      "readonly",
      "s",
      "w",
    ]);
  });

  it("is only to those that are named", () => {
    const view = viewOf(writer("lead", ["a"]), reader("a", ["b"]), reader("b"), writer("other"));
    expect(reach(view, "lead").delegates).toEqual({ lead: ["a"], a: ["b"], b: [] });
  });

  it("has no way back", () => {
    const view = viewOf(reader("a", ["b", "c"]), reader("b", ["c", "a"]), reader("c", ["a", "b"]));
    expect(reach(view, "a").delegates).toEqual({ a: ["b", "c"], b: ["c"], c: [] });
  });

  it("is open to an agent whose turn came before, which is not on the way", () => {
    const view = viewOf(reader("a", ["b", "c"]), reader("b"), reader("c", ["b"]));
    expect(reach(view, "a").delegates).toEqual({ a: ["b", "c"], b: [], c: ["b"] });
  });

  it("leaves out, further down, who is primary by now, and who is named twice", () => {
    const view = viewOf(reader("a", ["b"]), reader("b", ["p", "c", "c"]), reader("p", [], "primary"), reader("c"));
    expect(reach(view, "a").delegates).toEqual({ a: ["b"], b: ["c"], c: [] });
  });

  it("is refused to whoever names one that is primary, or gone, and says which", () => {
    const view = viewOf(reader("p", [], "primary"), reader("b"));
    expect(() => requireSubagents(reader("a", ["b", "*"]), view)).not.toThrow();
    expect(() => requireSubagents(reader("a", ["b", "p"]), view)).toThrow(/p, which can't be delegated to.*primary/);
    expect(() => requireSubagents(reader("a", ["gone"]), view)).toThrow(/gone, which does not exist any more/);
  });

  it("goes on from an agent whatever it is called", () => {
    const view = viewOf(reader("a", ["constructor"]), reader("constructor", ["b"]), reader("b"));
    expect(reached(view, "a")).toEqual(["b", "constructor"]);
  });

  it("never makes a circle, and readonly never reaches a writer, whatever is defined", () => {
    const names = ["a", "b", "c", "d", "e"];
    const agent = fc.record({
      tools: fc.constantFrom<string[] | null>(null, [], ["read_file"], ["read_file", "write_file"], ["unknown_x"]),
      subagents: fc.subarray([...names, "readonly", "*", "missing"]),
      mode: fc.constantFrom("all", "subagent", "primary") as fc.Arbitrary<AgentDefinition["mode"]>,
    });
    fc.assert(
      fc.property(fc.array(agent, { minLength: 5, maxLength: 5 }), (given) => {
        const view = viewOf(...given.map((fields, index) => definitionOf(names[index] ?? "", fields)));
        for (const name of ["default", "readonly", ...names]) expectNoCircle(reach(view, name).delegates);
        for (const { tools: own } of reach(view, "readonly").subagents) {
          expect(own).not.toBeNull();
          expect(own?.every((tool) => ["read_file", ...readonlyTools].includes(tool))).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

const readonlyTools = builtinAgents(RUNTIME_TOOLS).find(({ name }) => name === "readonly")?.tools ?? [];

function expectNoCircle(delegates: Readonly<Record<string, readonly string[]>>): void {
  const done = new Set<string>();
  let before = -1;
  while (done.size !== before) {
    before = done.size;
    for (const [name, targets] of Object.entries(delegates))
      if (targets.every((target) => done.has(target))) done.add(name);
  }
  expect([...done].sort()).toEqual(Object.keys(delegates).sort());
}
