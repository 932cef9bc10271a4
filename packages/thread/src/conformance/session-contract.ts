import { describe, expect, it } from "vitest";
import type { NewSession } from "../session-store.ts";
import type { Storage } from "../storage.ts";
import { putCheckpoint, readCheckpoint } from "./checkpoints.ts";
import { nulIdContract } from "./nul-id-contract.ts";
import { oddNumberContract } from "./odd-number-contract.ts";
import { ODD_TEXTS } from "./odd-text.ts";
import { oddValueContract } from "./odd-value-contract.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { scopeValueContract } from "./scope-value-contract.ts";
import { sessionDeletionContract } from "./session-deletion-contract.ts";
import { sessionListContract } from "./session-list-contract.ts";
import { unknownFilterContract } from "./unknown-filter-contract.ts";
import { withStorage } from "./with-storage.ts";

export function sessionContract(open: OpenStorage): void {
  createSessionContract(open);
  updateSessionContract(open);
  sessionListContract(open);
  sessionDeletionContract(open);
  nulIdContract(open);
  scopeValueContract(open);
  unknownFilterContract(open);
  oddValueContract(open);
  oddNumberContract(open);
}

function createSessionContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("createSession", () => {
    test("fills in what is left out", async ({ storage }) => {
      const session = await storage.createSession({});
      expect(session).toMatchObject({ title: null, status: "active", agent_name: "default", mode: "auto" });
      expect(session).toMatchObject({ config: {}, scopes: {}, metadata: {}, message_count: 0, storage_bytes: 0 });
      expect(session).toMatchObject({ active_run_id: null, parent: null });
      expect(session.id).not.toBe(session.thread_id);
      expect(session.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(session.updated_at).toBe(session.created_at);
      expect(await storage.getSession(session.id)).toEqual(session);
    });

    test("keeps every field", async ({ storage }) => {
      const given = {
        id: "0198c5a0-0000-7000-8000-000000000001",
        thread_id: "0198c5a0-0000-7000-8000-000000000002",
        title: "A title",
        agent_name: "researcher",
        mode: "plan",
        config: { model: "m", temperature: 0.5, max_tokens: 10, system_prompt: "Be brief." },
        scopes: { user: "ann", project: "p" },
        metadata: { "a.b": "c", d: "" },
        workspace_path: "sessions/1",
        parent: { session_id: "s", checkpoint_id: "c" },
      } satisfies NewSession;
      await storage.createSession(given);
      expect(await storage.getSession(given.id)).toMatchObject(given);
    });

    test("keeps odd text in titles, metadata and prompts as it came", async ({ storage }) => {
      const metadata = Object.fromEntries(ODD_TEXTS.map((text, index) => [`${index}${text}`, text]));
      for (const text of ODD_TEXTS) {
        const { id } = await storage.createSession({ title: text, config: { system_prompt: text }, metadata });
        expect(await storage.getSession(id)).toMatchObject({ title: text, config: { system_prompt: text }, metadata });
      }
    });

    test("an id that is taken is refused, and the first session stays as it was", async ({ storage }) => {
      const first = await storage.createSession({ title: "first" });
      const again = [{ id: first.id }, { thread_id: first.thread_id }, { id: first.id, thread_id: first.thread_id }];
      for (const taken of again) {
        await expect(storage.createSession(taken)).rejects.toMatchObject({ code: "already_exists" });
      }
      expect(await storage.listSessions()).toEqual([first]);
    });

    test("a refused session leaves no thread behind", async ({ storage }) => {
      const { id } = await storage.createSession({});
      const thread_id = "0198c5a0-0000-7000-8000-000000000004";
      await expect(storage.createSession({ id, thread_id })).rejects.toMatchObject({ code: "already_exists" });
      // If the thread had stayed, it would be one of this scope that others can't take.
      expect(await storage.createSession({ thread_id, scopes: { user: "bob" } })).toMatchObject({ thread_id });
    });

    test("of many that ask for one thread at once, one gets it", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const thread_id = "0198c5a0-0000-7000-8000-000000000003";
      const ask = (n: number) => (n % 2 ? storage : other).createSession({ thread_id });
      const results = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => ask(n)));
      const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(refused).toHaveLength(7);
      for (const reason of refused) expect(reason).toMatchObject({ code: "already_exists" });
    });

    test("another scope's thread is taken, and nothing is told of it", async ({ storage }) => {
      const { thread_id } = await storage.createSession({ scopes: { user: "ann" } });
      const error = await storage.createSession({ thread_id, scopes: { user: "bob" } }).catch((reason) => reason);
      expect(error).toMatchObject({ code: "already_exists", message: expect.not.stringContaining("ann") });
      expect(await storage.countSessions({ scope: { user: "bob" } })).toBe(0);
    });

    test("takes over a thread that has checkpoints and no session, with all it holds", async ({ storage }) => {
      const thread_id = "0198c5a0-0000-7000-8000-000000000005";
      await putCheckpoint(storage, thread_id);
      const foreign = storage.createSession({ thread_id, scopes: { user: "ann" } });
      await expect(foreign).rejects.toMatchObject({ code: "already_exists" });
      const session = await storage.createSession({ thread_id });
      expect(session.storage_bytes).toBeGreaterThan(0);
      expect(await readCheckpoint(storage, thread_id)).toMatchObject({ note: "kept" });
    });

    test("says which run is first in line", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const { run } = await storage.createRun({ session_id });
      await storage.createRun({ session_id });
      expect(await storage.getSession(session_id)).toMatchObject({ active_run_id: run.id });
      await storage.requestAbort(session_id);
      expect(await storage.getSession(session_id)).toMatchObject({ active_run_id: null });
    });

    for (const [n, [field, session]] of unacceptable.entries()) {
      test(`refuses a bad ${field} by name, and stores nothing (${n})`, async ({ storage }) => {
        const error = await storage.createSession(session).catch((reason) => reason);
        expect(error).toMatchObject({ code: "validation_failed", message: expect.stringContaining(field) });
        expect(await storage.countSessions()).toBe(0);
      });
    }

    test("is there after the storage was closed and opened again", async ({ storage, reopen }) => {
      const session = await storage.createSession({ title: "kept", scopes: { user: "ann" }, metadata: { k: "v" } });
      const after = reopen ? await reopen() : storage;
      expect(await after.getSession(session.id)).toEqual(session);
    });

    test("is there if it was asked for before the storage was closed, however many were", async ({
      storage,
      reopen,
    }) => {
      const asked = Array.from({ length: 50 }, () => storage.createSession({}));
      const after = reopen ? await reopen() : storage;
      expect((await Promise.all(asked)).length).toBe(50);
      expect(await after.countSessions()).toBe(50);
    });
  });
}

const unacceptable: [string, NewSession][] = [
  ["title", { title: "t".repeat(501) }],
  ["title", { title: "nul \u0000 inside" }],
  ["agent_name", { agent_name: "" }],
  ["metadata", { metadata: { key: "v".repeat(2049) } }],
  ["metadata", { metadata: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, ""])) }],
  ["metadata", { metadata: { nested: {} as string } }],
  ["scope", { scopes: { user: "u".repeat(256) } }],
  ["temperature", { config: { temperature: 3 } }],
  ["flavour", { config: { flavour: "sweet" } as NewSession["config"] & object }],
  ["mode", { mode: "yolo" as "auto" }],
  ["thread_id", { thread_id: "" }],
];

function updateSessionContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("updateSession", () => {
    test("changes only what is given", async ({ storage }) => {
      const before = await storage.createSession({ title: "old", metadata: { a: "1" }, config: { model: "m" } });
      const after = await storage.updateSession(before.id, { title: "new" });
      expect(after).toEqual({ ...before, title: "new", updated_at: after?.updated_at });
      expect(await storage.getSession(before.id)).toEqual(after);
      expect(await storage.updateSession(before.id, {})).toEqual(after);
      expect(await storage.updateSession(before.id, { title: null })).toMatchObject({
        title: null,
        metadata: { a: "1" },
      });
    });

    test("changes each of what it takes", async ({ storage }) => {
      const before = await storage.createSession({});
      const patch = { status: "inactive", agent_name: "coder", mode: "plan", workspace_path: "sessions/1" } as const;
      const after = await storage.updateSession(before.id, patch);
      expect(after).toEqual({ ...before, ...patch, updated_at: after?.updated_at });
      expect(await storage.getSession(before.id)).toEqual(after);
    });

    test("merges config, key by key, and replaces metadata", async ({ storage }) => {
      const { id } = await storage.createSession({
        metadata: { a: "1", b: "2" },
        config: { model: "m", max_tokens: 5 },
      });
      const config = { max_tokens: 7, temperature: 1 };
      const after = await storage.updateSession(id, { config, metadata: { c: "3" } });
      expect(after).toMatchObject({ config: { model: "m", ...config }, metadata: { c: "3" } });
      expect(after?.metadata).toEqual({ c: "3" });
    });

    test("a null takes one config key away", async ({ storage }) => {
      const { id } = await storage.createSession({ config: { model: "m", max_tokens: 5 } });
      const after = await storage.updateSession(id, { config: { model: null } as never });
      expect(after?.config).toEqual({ max_tokens: 5 });
    });

    test("concurrent merges of different keys all survive", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const { id } = await storage.createSession({});
      const patches = [
        { model: "m" },
        { temperature: 1 },
        { max_tokens: 3 },
        { recursion_limit: 4 },
        { provider: "p" },
      ];
      await Promise.all(patches.map((config, n) => (n % 2 ? storage : other).updateSession(id, { config })));
      expect((await storage.getSession(id))?.config).toEqual(Object.assign({}, ...patches));
    });

    test("gives null for an unknown session and another scope's, which stays as it was", async ({ storage }) => {
      const session = await storage.createSession({ scopes: { user: "ann" } });
      expect(await storage.updateSession("unknown", { title: "x" })).toBeNull();
      expect(await storage.updateSession(session.id, { title: "x" }, { user: "bob" })).toBeNull();
      expect(await storage.updateSession(session.id, { title: "x" }, {})).toBeNull();
      expect(await storage.getSession(session.id)).toEqual(session);
      expect(await storage.updateSession(session.id, { status: "inactive" }, { user: "ann" })).toMatchObject({
        status: "inactive",
      });
    });

    test("refuses a bad value by name and changes nothing", async ({ storage }) => {
      const session = await storage.createSession({ title: "kept" });
      const error = await storage
        .updateSession(session.id, { title: "t".repeat(501), mode: "plan" })
        .catch((reason) => reason);
      expect(error).toMatchObject({ code: "validation_failed", message: expect.stringMatching(/title.*500/) });
      expect(await storage.getSession(session.id)).toEqual(session);
    });
  });

  describe("updateMessageCount", () => {
    test("concurrent calls of two instances add up", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const { id } = await storage.createSession({});
      // So that none of them meets zero, whichever comes first.
      await storage.updateMessageCount(id, 10);
      const deltas = Array.from({ length: 40 }, (_, n) => (n % 4 === 3 ? -1 : 2));
      await Promise.all(deltas.map((delta, n) => (n % 2 ? storage : other).updateMessageCount(id, delta)));
      expect(await countOf(storage, id)).toBe(60);
    });

    test("never goes below zero, and names an unknown session", async ({ storage }) => {
      const { id } = await storage.createSession({});
      await storage.updateMessageCount(id, 2);
      await storage.updateMessageCount(id, -5);
      expect(await countOf(storage, id)).toBe(0);
      await expect(storage.updateMessageCount("unknown", 1)).rejects.toMatchObject({ code: "session_not_found" });
      await expect(storage.updateMessageCount(id, 0.5)).rejects.toMatchObject({ code: "validation_failed" });
    });
  });
}

async function countOf(storage: Storage, session_id: string): Promise<number | undefined> {
  return (await storage.getSession(session_id))?.message_count;
}
