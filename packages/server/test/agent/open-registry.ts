import { createAgentFiles } from "../../src/agent/agent-files.ts";
import { type AgentRegistry, createAgentRegistry } from "../../src/agent/agent-registry.ts";
import type { AgentSources } from "../../src/agent/agent-view.ts";
import { createMemoryAgentStore } from "../../src/agent/memory-agent-store.ts";
import { createSkillFiles } from "../../src/agent/skill-files.ts";
import { createGuardedFetch } from "../../src/outgoing/guarded-fetch.ts";
import { createBuiltinTools } from "../../src/tool/builtin-tools.ts";
import { createToolRegistry } from "../../src/tool/tool-registry.ts";

/** A registry of real parts on a folder. */
export function openRegistry(root: string, given: Partial<AgentSources> = {}): AgentRegistry {
  return createAgentRegistry({
    store: createMemoryAgentStore(),
    files: createAgentFiles({ root }),
    skills: createSkillFiles({ root }),
    tools: createToolRegistry({ builtins: createBuiltinTools({ fetch: createGuardedFetch() }) }),
    registered: [],
    middleware: ["audit"],
    providers: async () => ["openai", "main"],
    ...given,
  });
}
