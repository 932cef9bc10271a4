import type { AgentRegistry } from "../../agent/agent-registry.ts";
import { writableScope } from "../admin.ts";
import type { Handlers } from "../handler.ts";
import { slicePage } from "./page.ts";

type AgentRoutes = Pick<
  Handlers,
  "listAgents" | "createAgent" | "getAgent" | "replaceAgent" | "updateAgent" | "deleteAgent"
>;

const WRITING = "Writing an agent";

export function createAgentRoutes(agents: AgentRegistry): AgentRoutes {
  return {
    listAgents: async ({ query, scope }) => {
      const found = await agents.list(scope, query.mode ? { mode: query.mode } : {});
      const { page, info } = slicePage(query, found);
      return { agents: page, ...info };
    },
    createAgent: async (call) => agents.create(call.body, writableScope(call, WRITING)),
    getAgent: async ({ params, scope }) => agents.get(params.name, scope),
    replaceAgent: async (call) => agents.replace(call.params.name, call.body, writableScope(call, WRITING)),
    updateAgent: async (call) => agents.update(call.params.name, call.body, writableScope(call, WRITING)),
    deleteAgent: async (call) => {
      await agents.delete(call.params.name, writableScope(call, WRITING));
      return undefined;
    },
  };
}
