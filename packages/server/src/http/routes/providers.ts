import type { ModelRegistry } from "../../model/model-registry.ts";
import { requireAdmin } from "../admin.ts";
import type { Call, Handlers } from "../handler.ts";
import { slicePage } from "./page.ts";

export interface ProviderRoutes {
  readonly models: ModelRegistry;
}

type Names = "listProviders" | "createProvider" | "getProvider" | "updateProvider" | "deleteProvider" | "testProvider";

export function providerRoutes({ models }: ProviderRoutes): Pick<Handlers, Names> {
  // A provider is where a scope's conversations, and the server's keys, are sent: not for everyone to decide.
  const admin = (call: Pick<Call, "admin">) => requireAdmin(call, "Writing a model provider");
  return {
    listProviders: async ({ query, scope }) => {
      const { page, info } = slicePage(query, await models.list(scope));
      return { providers: page, ...info };
    },
    createProvider: async (call) => {
      admin(call);
      return models.create(call.body, call.scope);
    },
    getProvider: async ({ params, scope }) => models.get(params.id, scope),
    updateProvider: async (call) => {
      admin(call);
      return models.update(call.params.id, call.body, call.scope);
    },
    deleteProvider: async (call) => {
      admin(call);
      await models.remove(call.params.id, call.scope);
      return undefined;
    },
    testProvider: async ({ params, scope }) => models.test(params.id, scope),
  };
}
