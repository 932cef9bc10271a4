import { describe, expect, it } from "vitest";
import type { NewArtifact } from "../artifact-store.ts";
import type { Storage } from "../storage.ts";
import { artifactVersionContract } from "./artifact-version-contract.ts";
import { artifactVisibilityContract } from "./artifact-visibility-contract.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const ABSENT = "0198c5a0-0000-7000-8000-00000000dead";

/** Durable, versioned files, as `storage.artifacts` keeps them. */
export function artifactContract(open: OpenStorage): void {
  createArtifactContract(open);
  listArtifactsContract(open);
  lifecycleContract(open);
  artifactVersionContract(open);
  artifactVisibilityContract(open);
}

type Draft = NewArtifact & { session_id: string };

async function draft(storage: Storage, rest: Partial<Draft> = {}): Promise<Draft> {
  const { id } = await storage.createSession(rest.scopes ? { scopes: rest.scopes } : {});
  return { name: "notes.md", artifact_type: "artifact", content: "text", session_id: id, ...rest };
}

function createArtifactContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("createArtifact", () => {
    test("an id that is given makes one artifact", async ({ storage }) => {
      const given = { ...(await draft(storage)), id: crypto.randomUUID() };
      const { scope: _, ...made } = await storage.artifacts.createArtifact(given);
      expect(made).toMatchObject(given);
      for (const again of [given, { ...given, content: "other" }]) {
        await expect(storage.artifacts.createArtifact(again)).rejects.toMatchObject({ code: "already_exists" });
      }
      expect(await storage.artifacts.listVersions(given.id, { session_id: given.session_id })).toHaveLength(1);
    });

    test("fills in what is left out", async ({ storage }) => {
      const given = await draft(storage);
      const artifact = await storage.artifacts.createArtifact(given);
      expect(artifact).toEqual({
        ...given,
        id: expect.any(String),
        path: null,
        encoding: "text",
        content_type: "text/plain; charset=utf-8",
        size: 4,
        version: 1,
        reason: null,
        run_id: null,
        checkpoint_id: null,
        visibility: "private",
        scope: {},
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: artifact.created_at,
      });
      expect(await storage.artifacts.getArtifact(artifact.id, { session_id: given.session_id })).toEqual(artifact);
    });

    test("keeps every field, of every type", async ({ storage }) => {
      for (const artifact_type of ["scratch", "artifact", "contract", "eval", "memory", "policy"] as const) {
        const given = await draft(storage, {
          artifact_type,
          visibility: "public",
          path: "out/notes.md",
          content_type: "text/markdown",
          reason: "first",
          run_id: "run 1",
          checkpoint_id: "checkpoint 1",
          scopes: { user: "ann" },
        });
        const { scopes, ...fields } = given;
        const artifact = await storage.artifacts.createArtifact(given);
        expect(artifact).toMatchObject({ ...fields, scope: scopes });
        expect(await storage.artifacts.getArtifact(artifact.id, { scope: { user: "ann" } })).toEqual(artifact);
      }
    });

    test("gives text back as text and bytes as bytes, also empty ones", async ({ storage }) => {
      const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const contents = [...ODD_TEXTS, "nul \0", LONG_TEXT, bytes, new Uint8Array(0), Buffer.from("bytes of text")];
      const given = await draft(storage, { visibility: "public" });
      for (const content of contents) {
        const artifact = await storage.artifacts.createArtifact({ ...given, content });
        const read = await storage.artifacts.readContent(artifact.id, {});
        if (typeof content === "string") {
          expect(read).toEqual({ content, content_type: "text/plain; charset=utf-8" });
          expect(artifact).toMatchObject({ content, encoding: "text", size: Buffer.byteLength(content) });
        } else {
          expect(read).toEqual({ content: Uint8Array.from(content), content_type: "application/octet-stream" });
          const shown = { content: Buffer.from(content).toString("base64"), encoding: "base64", size: content.length };
          expect(artifact).toMatchObject(shown);
        }
        expect(await storage.artifacts.getArtifact(artifact.id, {})).toEqual(artifact);
      }
    });

    test("keeps odd text in names, paths and reasons", async ({ storage }) => {
      const given = await draft(storage, { visibility: "public" });
      for (const text of ODD_TEXTS.filter((odd) => odd !== "")) {
        const { id } = await storage.artifacts.createArtifact({ ...given, name: text, path: text, reason: text });
        const found = await storage.artifacts.listArtifacts({}, { name: text });
        expect(found.artifacts).toMatchObject([{ id, name: text, path: text, reason: text }]);
      }
    });

    test("takes content up to the limit and stores nothing past it", async ({ storage }) => {
      const given = await draft(storage, { visibility: "public" });
      const fits = await storage.artifacts.createArtifact({ ...given, content: new Uint8Array(MAX_BYTES) });
      expect(fits.size).toBe(MAX_BYTES);
      const tooLarge = { code: "content_too_large", details: { max: MAX_BYTES } };
      for (const content of [new Uint8Array(MAX_BYTES + 1), `é${"x".repeat(MAX_BYTES - 1)}`]) {
        await expect(storage.artifacts.createArtifact({ ...given, content })).rejects.toMatchObject(tooLarge);
        await expect(storage.artifacts.updateArtifact(fits.id, { content }, {})).rejects.toMatchObject(tooLarge);
      }
      expect((await storage.artifacts.listArtifacts({})).total).toBe(1);
      expect((await storage.artifacts.getArtifact(fits.id, {})).version).toBe(1);
    });

    test("refuses what could not be kept or seen", async ({ storage }) => {
      const given = await draft(storage);
      const invalid: Partial<NewArtifact>[] = [
        { name: "" },
        { name: "x".repeat(501) },
        { name: "nul \0" },
        { artifact_type: "picture" as "artifact" },
        { visibility: "secret" as "public" },
        { visibility: "run" },
      ];
      for (const wrong of invalid) {
        const created = storage.artifacts.createArtifact({ ...given, ...wrong });
        await expect(created, JSON.stringify(wrong)).rejects.toMatchObject({ code: "validation_failed" });
      }
      const half = storage.artifacts.createArtifact({ ...given, content: "half \ud800" });
      await expect(half).rejects.toMatchObject({ code: "unserializable_value" });
    });

    test("needs a session of its scope", async ({ storage }) => {
      const given = await draft(storage, { scopes: { user: "ann" } });
      const missing = { code: "session_not_found" };
      for (const wrong of [{ session_id: ABSENT }, { scopes: { user: "bob" } }, { scopes: {} }]) {
        await expect(storage.artifacts.createArtifact({ ...given, ...wrong })).rejects.toMatchObject(missing);
      }
      const { scopes: _scopes, ...unscoped } = given;
      expect((await storage.artifacts.createArtifact(unscoped)).scope).toEqual({ user: "ann" });
      await storage.deleteSession(given.session_id);
      await expect(storage.artifacts.createArtifact(given)).rejects.toMatchObject(missing);
      expect((await storage.artifacts.listArtifacts({ session_id: given.session_id })).total).toBe(1);
    });
  });
}

function listArtifactsContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("listArtifacts", () => {
    test("goes on before an artifact, also when that one has gone", async ({ storage }) => {
      const given = await draft(storage, { visibility: "public" });
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.unshift((await storage.artifacts.createArtifact(given)).id);
      const before = ids[1] as string;
      const rest = async (limit?: number) =>
        (await storage.artifacts.listArtifacts({}, { before, ...(limit && { limit }) })).artifacts.map(({ id }) => id);
      expect(await rest(2)).toEqual(ids.slice(2, 4));
      await storage.artifacts.createArtifact(given);
      await storage.artifacts.deleteArtifact(before, {});
      expect(await rest()).toEqual(ids.slice(2));
    });

    test("is newest first, without content, in pages that fit together", async ({ storage }) => {
      const given = await draft(storage, { visibility: "public" });
      const ids: string[] = [];
      for (let n = 0; n < 7; n++) {
        const { id } = await storage.artifacts.createArtifact({ ...given, name: `${n % 2}` });
        ids.unshift(id);
      }
      await storage.artifacts.updateArtifact(ids[3] as string, { content: "newer" }, {});
      const all = await storage.artifacts.listArtifacts({});
      expect(all.artifacts.map(({ id }) => id)).toEqual(ids);
      expect(all.total).toBe(7);
      expect(all.artifacts[3]).toMatchObject({ version: 2, size: 5 });
      expect(all.artifacts[0]).not.toHaveProperty("content");
      const page = await storage.artifacts.listArtifacts({}, { limit: 2, offset: 5 });
      expect(page).toEqual({ artifacts: all.artifacts.slice(5), total: 7 });
      expect(await storage.artifacts.listArtifacts({}, { offset: 7 })).toEqual({ artifacts: [], total: 7 });
      expect((await storage.artifacts.listArtifacts({}, { limit: 0 })).artifacts).toEqual([]);
      await expect(storage.artifacts.listArtifacts({}, { limit: -1 })).rejects.toMatchObject({
        code: "validation_failed",
      });
    });

    test("filters by type, visibility and name", async ({ storage }) => {
      const given = await draft(storage);
      await storage.artifacts.createArtifact({ ...given, name: "a", artifact_type: "eval", visibility: "public" });
      await storage.artifacts.createArtifact({ ...given, name: "b", artifact_type: "eval" });
      await storage.artifacts.createArtifact({ ...given, name: "b", artifact_type: "memory", visibility: "public" });
      const reader = { session_id: given.session_id };
      const count = async (filter: Parameters<typeof storage.artifacts.listArtifacts>[1]) => {
        const { artifacts, total } = await storage.artifacts.listArtifacts(reader, filter);
        expect(artifacts).toHaveLength(total);
        return total;
      };
      expect(await count({ artifact_type: "eval" })).toBe(2);
      expect(await count({ visibility: "public" })).toBe(2);
      expect(await count({ name: "b" })).toBe(2);
      expect(await count({ artifact_type: "eval", name: "b" })).toBe(1);
      expect(await count({ name: "B" })).toBe(0);
      expect(await count({})).toBe(3);
    });
  });
}

function lifecycleContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("an artifact", () => {
    test("outlives its session, unless it is scratch", async ({ storage }) => {
      const given = await draft(storage, { visibility: "public" });
      const kept = ["artifact", "contract", "eval", "memory", "policy"] as const;
      for (const artifact_type of ["scratch", ...kept] as const) {
        await storage.artifacts.createArtifact({ ...given, artifact_type });
      }
      await storage.deleteSession(given.session_id);
      const { artifacts } = await storage.artifacts.listArtifacts({});
      expect(artifacts.map(({ artifact_type }) => artifact_type).sort()).toEqual([...kept]);
      const policy = artifacts.find(({ artifact_type }) => artifact_type === "policy");
      const change = { content: "new", reason: "because" };
      expect((await storage.artifacts.updateArtifact(policy?.id ?? "", change, {})).version).toBe(2);
    });

    test("is deleted with all its versions, once", async ({ storage }) => {
      const given = await draft(storage, { visibility: "public" });
      const { id } = await storage.artifacts.createArtifact(given);
      const other = await storage.artifacts.createArtifact(given);
      await storage.artifacts.updateArtifact(id, { content: "two" }, {});
      const stale = storage.artifacts.deleteArtifact(id, {}, { if_version: 7 });
      await expect(stale).rejects.toMatchObject({ code: "precondition_failed", details: { version: 2 } });
      expect(await storage.artifacts.deleteArtifact(id, {}, { if_version: 2 })).toBe(true);
      expect(await storage.artifacts.deleteArtifact(id, {}, { if_version: 2 })).toBe(false);
      expect(await storage.artifacts.deleteArtifact(id, {})).toBe(false);
      await expect(storage.artifacts.getVersion(id, 1, {})).rejects.toMatchObject({ code: "artifact_not_found" });
      expect((await storage.artifacts.listArtifacts({})).artifacts.map((artifact) => artifact.id)).toEqual([other.id]);
    });

    test("is deleted by whoever sees it: its session, or the run that made it", async ({ storage }) => {
      const given = await draft(storage);
      const { session_id } = given;
      const run_id = crypto.randomUUID();
      for (const [made, reader] of [
        [given, { session_id }],
        [{ ...given, visibility: "run", run_id } as const, { session_id, run_id }],
      ] as const) {
        const { id } = await storage.artifacts.createArtifact(made);
        expect(await storage.artifacts.deleteArtifact(id, reader)).toBe(true);
        expect((await storage.artifacts.listArtifacts(reader)).total).toBe(0);
      }
    });

    test("that is scratch never outlives a session deleted at the same time", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      for (let round = 0; round < 10; round++) {
        const given = await draft(storage, { artifact_type: "scratch", visibility: "public" });
        const creating = Array.from({ length: 3 }, () => other.artifacts.createArtifact(given));
        await Promise.allSettled([...creating, storage.deleteSession(given.session_id)]);
        expect((await storage.artifacts.listArtifacts({})).total).toBe(0);
      }
    });

    it("is still there after closing and opening again", async ({ skip }) => {
      await withStorage(open, async ({ storage, reopen }) => {
        if (!reopen) return skip("its data does not outlive the process");
        const given = await draft(storage, { visibility: "public", content: Uint8Array.of(0, 255) });
        const artifact = await storage.artifacts.createArtifact(given);
        const again = await reopen();
        expect(await again.artifacts.getArtifact(artifact.id, {})).toEqual(artifact);
        expect((await again.artifacts.readContent(artifact.id, {})).content).toEqual(Uint8Array.of(0, 255));
      })();
    });
  });
}
