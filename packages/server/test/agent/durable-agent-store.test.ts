import { describe, expect, it } from "vitest";
import { engines } from "../../../thread/test/engines.ts";
import { createDurableAgentStore } from "../../src/agent/durable-agent-store.ts";
import { agentStoreContract, definitionOf } from "./agent-store-contract.ts";

for (const { name, open } of engines) {
  agentStoreContract(name, async () => {
    const { storage, reopen, dispose } = await open();
    return {
      store: createDurableAgentStore({ storage }),
      ...(reopen && { reopen: async () => createDurableAgentStore({ storage: await reopen() }) }),
      dispose,
    };
  });
}

describe.each(engines)("two nodes on $name", ({ open }) => {
  const agent = { definition: definitionOf("a"), scope: { user: "ann" }, hash: "1" };

  it("see each other's changes as soon as they look again, and look no more often than asked", async () => {
    const { storage, second, dispose } = await open();
    try {
      let time = 0;
      let looks = 0;
      const there = second ? await second() : storage;
      const agents = {
        ...there.agents,
        definitionVersion: () => {
          looks += 1;
          return there.agents.definitionVersion();
        },
      };
      const here = createDurableAgentStore({ storage });
      const other = createDurableAgentStore({ storage: { ...there, agents }, now: () => time, maxAgeMs: 1_000 });
      const seen = () => other.listAgents([{ user: "ann" }]);
      expect(await seen()).toEqual([]);
      expect(await here.putAgent(agent, null)).toBe(true);
      time = 999;
      expect(await Promise.all([seen(), seen()])).toEqual([[], []]);
      expect(looks).toBe(1);
      time = 1_000;
      expect(await Promise.all([seen(), seen(), seen()])).toEqual([[agent], [agent], [agent]]);
      expect(looks).toBe(2);
      // A writer compares with what is stored, however old the list is that it has.
      expect(await here.deleteAgent("a", { user: "ann" })).toBe(true);
      expect(await other.findAgent("a", [{ user: "ann" }])).toBeNull();
      expect(await other.putAgent({ ...agent, hash: "2" }, "1")).toBe(false);
      expect(await seen()).toEqual([]);
    } finally {
      await dispose();
    }
  });
});
