import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/agent-definition.ts";
import { withRevision } from "../../src/agent/agent-revision.ts";
import type { AgentStore, StoredAgent } from "../../src/agent/agent-store.ts";

export interface AgentStoreFixture {
  store: AgentStore;
  /** The same data opened anew; absent where it does not outlive the process. */
  reopen?: () => Promise<AgentStore>;
  dispose(): Promise<void>;
}

export function definitionOf(name: string, given: Partial<AgentDefinition> = {}): AgentDefinition {
  return {
    name,
    description: "",
    mode: "all",
    system_prompt: `You are ${name}.`,
    tools: null,
    skills: [],
    subagents: [],
    memory: [],
    middleware: [],
    interrupt_on: {},
    model: null,
    config: {},
    response_format: null,
    source: "api",
    ...given,
  };
}

const stored = (name: string, scope: StoredAgent["scope"], hash = "1"): StoredAgent => ({
  definition: definitionOf(name, { system_prompt: `${hash} \u2028 "quoted" ' % _ 漢 👋` }),
  scope,
  hash,
});

const byName = (a: StoredAgent, b: StoredAgent) => (a.definition.name < b.definition.name ? -1 : 1);

/** What every AgentStore promises. */
export function agentStoreContract(name: string, open: () => Promise<AgentStoreFixture>): void {
  const test = (title: string, body: (fixture: AgentStoreFixture) => Promise<void>) =>
    it(title, async () => {
      const fixture = await open();
      try {
        await body(fixture);
      } finally {
        await fixture.dispose();
      }
    });

  describe(`agent store: ${name}`, () => {
    test("gives back what was put, also after it was opened anew", async ({ store, reopen }) => {
      const agent = stored("a", { user: "ann", project: "p" });
      expect(await store.putAgent(agent, null)).toBe(true);
      const after = reopen ? await reopen() : store;
      expect(await after.findAgent("a", [{ project: "p", user: "ann" }])).toEqual(agent);
      expect(await after.listAgents([{ project: "p", user: "ann" }])).toEqual([agent]);
    });

    test("keeps each scope to itself, by exact equality", async ({ store }) => {
      const scopes = [{}, { user: "ann" }, { user: "bob" }, { user: "ann", project: "p" }];
      for (const scope of scopes) expect(await store.putAgent(stored("a", scope), null)).toBe(true);
      for (const scope of scopes) expect(await store.listAgents([scope])).toEqual([stored("a", scope)]);
      expect(await store.findAgent("a", [{ project: "p" }])).toBeNull();
      expect(await store.listAgents([])).toEqual([]);
    });

    test("finds the first of the scopes that has one, and lists all of them", async ({ store }) => {
      await store.putAgent(stored("a", {}), null);
      await store.putAgent(stored("a", { user: "ann" }), null);
      await store.putAgent(stored("b", {}), null);
      const chain = [{ user: "ann", project: "p" }, { user: "ann" }, {}];
      expect(await store.findAgent("a", chain)).toMatchObject({ scope: { user: "ann" } });
      expect(await store.findAgent("b", chain)).toMatchObject({ scope: {} });
      expect(await store.findAgent("c", chain)).toBeNull();
      const listed = (await store.listAgents(chain)).toSorted(byName);
      expect(listed.map(({ definition, scope }) => [definition.name, Object.keys(scope).length]).sort()).toEqual([
        ["a", 0],
        ["a", 1],
        ["b", 0],
      ]);
    });

    test("writes only over what the writer has seen", async ({ store }) => {
      expect(await store.putAgent(stored("a", {}, "1"), "0")).toBe(false);
      expect(await store.putAgent(stored("a", {}, "1"), null)).toBe(true);
      expect(await store.putAgent(stored("a", {}, "2"), null)).toBe(false);
      expect(await store.putAgent(stored("a", {}, "2"), "1")).toBe(true);
      expect(await store.putAgent(stored("a", {}, "3"), "1")).toBe(false);
      expect(await store.findAgent("a", [{}])).toEqual(stored("a", {}, "2"));
    });

    test("of many writers at once one wins", async ({ store }) => {
      const writes = Array.from({ length: 10 }, (_, n) => store.putAgent(stored("a", {}, `${n}`), null));
      expect((await Promise.all(writes)).filter(Boolean)).toHaveLength(1);
    });

    test("deletes only in exactly that scope", async ({ store }) => {
      await store.putAgent(stored("a", { user: "ann" }), null);
      expect(await store.deleteAgent("a", {})).toBe(false);
      expect(await store.deleteAgent("a", { user: "bob" })).toBe(false);
      expect(await store.deleteAgent("a", { user: "ann" })).toBe(true);
      expect(await store.deleteAgent("a", { user: "ann" })).toBe(false);
      expect(await store.putAgent(stored("a", { user: "ann" }), null)).toBe(true);
    });

    test("keeps revisions for ever, unchanged", async ({ store, reopen }) => {
      const agent = withRevision({
        definition: definitionOf("a"),
        subagents: [definitionOf("b")],
        delegates: { a: ["b"] },
      });
      expect(await store.findRevision(agent.revision)).toBeNull();
      await store.saveRevision(agent, { user: "ann" });
      await store.saveRevision(agent, {});
      await store.saveRevision({ ...agent, definition: definitionOf("forged") }, {});
      await store.deleteAgent("a", {});
      const after = reopen ? await reopen() : store;
      expect(await after.findRevision(agent.revision)).toEqual(agent);
    });

    test("hands out values that nobody else holds", async ({ store }) => {
      const agent = stored("a", {});
      await store.putAgent(agent, null);
      agent.definition.skills.push("changed");
      (await store.findAgent("a", [{}]))?.definition.skills.push("changed");
      expect((await store.findAgent("a", [{}]))?.definition.skills).toEqual([]);
    });
  });
}
