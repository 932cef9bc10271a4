import type { Scope } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { Storage } from "../storage.ts";
import { createTasks } from "../task/tasks.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

/** As they come from a header, a token or a row that lacks the value. Taken for "no scope", each would meet all the others. */
const WITHOUT_VALUE: [string, Scope][] = [
  ["undefined", { user: undefined }],
  ["null", { user: null }],
  ["empty", { user: "" }],
  ["a number", { user: 7 }],
  ["beside one that has one", { org: "a", user: undefined }],
  ["null instead of a scope", null],
  ["a text instead of a scope", "ann"],
].map(([name, scope]) => [name as string, scope as unknown as Scope]);

const ASK: [string, (storage: Storage, scope: Scope) => Promise<unknown>][] = [
  ["createSession", (storage, scopes) => storage.createSession({ scopes })],
  ["getSession", (storage, scope) => storage.getSession("s", scope)],
  ["listSessions", (storage, scope) => storage.listSessions({ scope })],
  ["listSessions by filter_scopes", (storage, filter_scopes) => storage.listSessions({ filter_scopes })],
  ["deleteSession", (storage, scope) => storage.deleteSession("s", scope)],
  ["getRun", (storage, scope) => storage.getRun("r", scope)],
  ["listDeliveries", (storage, scope) => storage.listDeliveries({ scope })],
  ["claimIdempotencyKey", (storage, scope) => storage.claimIdempotencyKey({ scope, key: "k", body_hash: "h" })],
  ["createApiKey", (storage, scope) => createApiKey(storage, scope)],
  ["takeRequest", (storage, scope) => storage.rateLimits.takeRequest(scope, { per_second: 1, burst: 1 })],
  ["startTask", (storage, scope) => storage.tasks.startTask({ query: "q", user_id: "u", scope })],
  ["startTask of Tasks", (storage, scope) => createTasks(storage).startTask({ query: "q", user_id: "u", scope })],
  ["getProfile", (storage, scope) => storage.profiles.getProfile("u", scope)],
  ["listArtifacts", (storage, scope) => storage.artifacts.listArtifacts({ scope })],
  ["listDefinitions", (storage, scope) => storage.agents.listDefinitions([scope])],
  ["listBudgets", (storage, scope) => storage.budgets.listBudgets(scope)],
  ["getStore", (storage, scope) => storage.getStore(scope)],
  ["getChatStore", (storage, scope) => storage.getChatStore(scope)],
];

/** Here null is said on purpose: a key for any scope. */
function createApiKey(storage: Storage, scope: Scope): Promise<unknown> {
  const given = scope ?? ({ user: null } as unknown as Scope);
  return storage.apiKeys.createApiKey({
    ...{ prefix: "p", hash: "h", name: "n", scope: given, admin: false, expires_at: null },
  });
}

export function scopeValueContract(open: OpenStorage): void {
  describe("a scope without a value is refused, never taken for none", () => {
    it.each(ASK)("by %s", (_, ask) =>
      withStorage(open, async ({ storage }) => {
        for (const [name, scope] of WITHOUT_VALUE)
          await expect(ask(storage, scope), name).rejects.toMatchObject({ code: "validation_failed" });
      })(),
    );
  });
}
