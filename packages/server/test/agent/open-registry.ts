import { openStorage } from "@cognition/thread";
import { createAgentFiles } from "../../src/agent/agent-files.ts";
import { type AgentRegistry, createAgentRegistry } from "../../src/agent/agent-registry.ts";
import type { AgentStore } from "../../src/agent/agent-store.ts";
import type { AgentSources } from "../../src/agent/agent-view.ts";
import { createDurableAgentStore } from "../../src/agent/durable-agent-store.ts";
import { createSkillFiles } from "../../src/agent/skill-files.ts";
import { createGuardedFetch } from "../../src/outgoing/guarded-fetch.ts";
import { createBuiltinTools } from "../../src/tool/builtin-tools.ts";
import { createToolRegistry } from "../../src/tool/tool-registry.ts";

/** A store of its own, in memory, that looks at every use whether another has changed something. */
export async function openAgentStore(): Promise<AgentStore> {
  return createDurableAgentStore({ storage: await openStorage({ uri: "memory" }), maxAgeMs: 0 });
}

/** A registry of real parts on a folder. */
export async function openRegistry(root: string, given: Partial<AgentSources> = {}): Promise<AgentRegistry> {
  return createAgentRegistry({
    store: given.store ?? (await openAgentStore()),
    files: createAgentFiles({ root }),
    skills: createSkillFiles({ root }),
    tools: createToolRegistry({ builtins: createBuiltinTools({ fetch: createGuardedFetch() }) }),
    registered: [],
    middleware: ["audit"],
    providers: async () => ["openai", "main"],
    ...given,
  });
}
