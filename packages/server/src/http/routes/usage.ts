import type { Storage } from "@cognition/thread";
import type { Handlers } from "../handler.ts";

export interface UsageRoutes {
  readonly storage: Pick<Storage, "usage">;
}

export function usageRoutes({ storage: { usage } }: UsageRoutes): Pick<Handlers, "getUsage"> {
  return {
    getUsage: async ({ query, scope }) => usage.getUsage({ ...query, ...(scope && { scope }) }),
  };
}
