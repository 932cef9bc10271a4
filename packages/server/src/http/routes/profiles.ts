import type { Tasks } from "@cognition/thread";
import type { Handlers } from "../handler.ts";
import { requireOwnUser } from "../own-user.ts";

type Names = "getProfile" | "replaceProfile" | "updateProfile";

export interface ProfileRoutes {
  readonly tasks: Pick<Tasks, "getProfile" | "replaceProfile" | "patchProfile">;
}

export function profileRoutes({ tasks }: ProfileRoutes): Pick<Handlers, Names> {
  return {
    getProfile: async ({ params: { user_id }, scope }) => {
      requireOwnUser(scope, user_id);
      return tasks.getProfile(user_id, scope);
    },
    replaceProfile: async ({ params: { user_id }, body, scope }) => {
      requireOwnUser(scope, user_id);
      return tasks.replaceProfile(user_id, body, scope);
    },
    updateProfile: async ({ params: { user_id }, body, scope }) => {
      requireOwnUser(scope, user_id);
      return tasks.patchProfile(user_id, body, scope);
    },
  };
}
