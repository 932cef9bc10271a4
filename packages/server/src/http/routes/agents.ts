import type { AgentRegistry } from "../../agent/agent-registry.ts";
import { requireAdmin, writableScope } from "../admin.ts";
import type { Call, Handlers } from "../handler.ts";
import { pageInfo } from "./page.ts";

export interface AgentRoutes {
  readonly agents: AgentRegistry;
}

type Names = "listAgents" | "createAgent" | "getAgent" | "replaceAgent" | "updateAgent" | "deleteAgent";

const WRITING = "Writing an agent";

export function agentRoutes({ agents }: AgentRoutes): Pick<Handlers, Names> {
  return {
    listAgents: async ({ query, scope }) => {
      const { mode, limit, offset } = query;
      const { agents: page, total } = await agents.list(scope, { limit, offset, ...(mode && { mode }) });
      return { agents: page, ...pageInfo(query, page.length, total) };
    },
    createAgent: async (call) => agents.create(call.body, scopeToWrite(call)),
    getAgent: async ({ params, scope }) => agents.get(params.name, scope),
    replaceAgent: async (call) => agents.replace(call.params.name, call.body, scopeToWrite(call)),
    updateAgent: async (call) => agents.update(call.params.name, call.body, scopeToWrite(call)),
    deleteAgent: async (call) => {
      await agents.delete(call.params.name, writableScope(call, WRITING));
      return undefined;
    },
  };
}

/** Memory files are read from the server's workspace, which belongs to no scope. */
function scopeToWrite(call: Pick<Call, "scope" | "admin"> & { body: { memory?: readonly string[] | undefined } }) {
  if (call.body.memory?.length) requireAdmin(call, "Naming memory files, which are the server's,");
  return writableScope(call, WRITING);
}
