import type { Storage } from "@cognition/thread";
import type { Handlers } from "../handler.ts";

export function createUsageRoutes({ usage }: Pick<Storage, "usage">): Pick<Handlers, "getUsage"> {
  return {
    getUsage: async ({ query, scope }) => usage.getUsage({ ...query, ...(scope && { scope }) }),
  };
}
