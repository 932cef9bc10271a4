import type { ModelRegistry } from "../../model/model-registry.ts";
import type { Handlers } from "../handler.ts";
import { slicePage } from "./page.ts";

export interface ModelRoutes {
  readonly models: Pick<ModelRegistry, "models">;
}

export function modelRoutes({ models }: ModelRoutes): Pick<Handlers, "listModels"> {
  return {
    listModels: async ({ query, scope }) => {
      const all = await models.models(scope);
      const wanted = all.filter(({ provider_id }) => (query.provider_id ?? provider_id) === provider_id);
      const { page, info } = slicePage(query, wanted);
      return { models: page, ...info };
    },
  };
}
