import { describe, expect, it } from "vitest";
import type { NewArtifact } from "../artifact-store.ts";
import type { Storage } from "../storage.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

async function create(storage: Storage, rest: Partial<NewArtifact> = {}) {
  const { id: session_id } = await storage.createSession({});
  const fields = { name: "notes.md", artifact_type: "artifact", visibility: "public", content: "one\n" } as const;
  return storage.artifacts.createArtifact({ ...fields, session_id, ...rest });
}

export function artifactVersionContract(open: OpenStorage): void {
  updateContract(open);
  concurrencyContract(open);
  diffContract(open);
}

function updateContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("updateArtifact", () => {
    test("makes a version when content or its type changed, and only then", async ({ storage }) => {
      const { artifacts } = storage;
      const made = await create(storage);
      const { id } = made;
      expect(await artifacts.updateArtifact(id, { content: "one\n", reason: "none" }, {})).toEqual(made);
      expect(await artifacts.updateArtifact(id, {}, {})).toEqual(made);
      expect(await artifacts.updateArtifact(id, { content: "two\n" }, {})).toMatchObject({
        version: 2,
        content: "two\n",
      });
      const typed = await artifacts.updateArtifact(id, { content_type: "text/markdown" }, {});
      expect(typed).toMatchObject({ version: 3, content: "two\n", content_type: "text/markdown" });
      const bytes = await artifacts.updateArtifact(id, { content: Buffer.from("two\n") }, {});
      expect(bytes).toMatchObject({ version: 4, encoding: "base64", content_type: "application/octet-stream" });
      const back = await artifacts.updateArtifact(id, { content: "one\n", content_type: made.content_type }, {});
      expect(back).toMatchObject({ version: 5, content: "one\n" });
      expect(await artifacts.updateArtifact(id, { content: "one\n" }, {})).toEqual(back);
    });

    test("changes name, path and visibility without a version", async ({ storage }) => {
      const { id, session_id } = await create(storage, { run_id: "r" });
      const change = { name: "other.md", path: "a/b", visibility: "private" } as const;
      const updated = await storage.artifacts.updateArtifact(id, change, {});
      expect(updated).toMatchObject({ ...change, version: 1, run_id: "r" });
      expect(await storage.artifacts.getArtifact(id, { session_id: session_id as string })).toEqual(updated);
      await expect(storage.artifacts.getArtifact(id, {})).rejects.toMatchObject({ code: "artifact_not_found" });
    });

    test("keeps every version as it was, with its reason, run and checkpoint", async ({ storage }) => {
      const { artifacts } = storage;
      const { id } = await create(storage, { reason: "first", run_id: "r1", checkpoint_id: "c1" });
      const bytes = Uint8Array.of(0, 1, 2);
      await artifacts.updateArtifact(id, { content: bytes, reason: "second", run_id: "r2", checkpoint_id: "c2" }, {});
      await artifacts.updateArtifact(id, { content: "three" }, { run_id: "r3" });
      const versions = await artifacts.listVersions(id, {});
      expect(
        versions.map(({ version, reason, run_id, checkpoint_id }) => [version, reason, run_id, checkpoint_id]),
      ).toEqual([
        [3, null, "r3", null],
        [2, "second", "r2", "c2"],
        [1, "first", "r1", "c1"],
      ]);
      expect(versions[0]).not.toHaveProperty("content");
      expect(await artifacts.getVersion(id, 1, {})).toMatchObject({ content: "one\n", version: 1, reason: "first" });
      expect(await artifacts.readContent(id, {}, 2)).toEqual({
        content: bytes,
        content_type: "application/octet-stream",
      });
      expect(await artifacts.readContent(id, {})).toMatchObject({ content: "three" });
      expect(await artifacts.getArtifact(id, {})).toMatchObject({ version: 3, run_id: "r1", reason: null });
      for (const version of [0, 4, -1, 1.5, Number.NaN]) {
        await expect(artifacts.getVersion(id, version, {})).rejects.toMatchObject({ code: "artifact_not_found" });
        await expect(artifacts.readContent(id, {}, version)).rejects.toMatchObject({ code: "artifact_not_found" });
      }
    });

    test("needs a reason for a new version of a contract or a policy", async ({ storage }) => {
      const { artifacts } = storage;
      for (const artifact_type of ["contract", "policy"] as const) {
        const { id } = await create(storage, { artifact_type });
        const needed = { code: "artifact_reason_required" };
        await expect(artifacts.updateArtifact(id, { content: "two" }, {})).rejects.toMatchObject(needed);
        await expect(artifacts.updateArtifact(id, { content: "two", reason: " " }, {})).rejects.toMatchObject(needed);
        await expect(artifacts.updateArtifact(id, { content_type: "a/b" }, {})).rejects.toMatchObject(needed);
        expect(await artifacts.updateArtifact(id, { content: "one\n", name: "renamed" }, {})).toMatchObject({
          version: 1,
        });
        const change = { content: "two", reason: "agreed" };
        expect(await artifacts.updateArtifact(id, change, {})).toMatchObject({ version: 2, reason: "agreed" });
      }
      for (const artifact_type of ["scratch", "artifact", "eval", "memory"] as const) {
        const { id } = await create(storage, { artifact_type });
        expect((await artifacts.updateArtifact(id, { content: "two" }, {})).version).toBe(2);
      }
    });

    test("is guarded by the version that the caller has seen", async ({ storage }) => {
      const { artifacts } = storage;
      const { id } = await create(storage);
      expect((await artifacts.updateArtifact(id, { content: "two", if_version: 1 }, {})).version).toBe(2);
      const stale = { code: "precondition_failed", details: { version: 2 } };
      await expect(artifacts.updateArtifact(id, { content: "three", if_version: 1 }, {})).rejects.toMatchObject(stale);
      await expect(artifacts.updateArtifact(id, { name: "x", if_version: 3 }, {})).rejects.toMatchObject(stale);
      expect(await artifacts.getArtifact(id, {})).toMatchObject({ content: "two", name: "notes.md" });
    });

    test("refuses what is not valid, and changes nothing", async ({ storage }) => {
      const { id } = await create(storage);
      const invalid = [
        { name: "" },
        { name: "\0" },
        { visibility: "run" as const },
        { if_version: 1.5 },
        { reason: "" },
      ];
      for (const change of invalid) {
        const updated = storage.artifacts.updateArtifact(id, { content: "two", ...change }, {});
        await expect(updated, JSON.stringify(change)).rejects.toMatchObject({ code: "validation_failed" });
      }
      expect((await storage.artifacts.getArtifact(id, {})).version).toBe(1);
    });
  });
}

function concurrencyContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("concurrent updates", () => {
    test("take distinct numbers without a gap", async ({ storage, second }) => {
      const { id } = await create(storage);
      const other = second ? await second() : storage;
      const updates = Array.from({ length: 50 }, (_, n) =>
        (n % 2 ? storage : other).artifacts.updateArtifact(id, { content: `content ${n}` }, {}),
      );
      const updated = await Promise.all(updates);
      expect(updated.map(({ version }) => version).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, n) => n + 2),
      );
      for (const { version, content } of updated) {
        expect((await storage.artifacts.getVersion(id, version, {})).content).toBe(content);
      }
    });

    test("with the same content make one version", async ({ storage, second }) => {
      const { id } = await create(storage);
      const other = second ? await second() : storage;
      const updates = Array.from({ length: 10 }, (_, n) =>
        (n % 2 ? storage : other).artifacts.updateArtifact(id, { content: "the same" }, {}),
      );
      expect(new Set((await Promise.all(updates)).map(({ version }) => version))).toEqual(new Set([2]));
    });

    test("guarded by the same version: one wins", async ({ storage, second }) => {
      const { id } = await create(storage);
      const other = second ? await second() : storage;
      const updates = Array.from({ length: 10 }, (_, n) =>
        (n % 2 ? storage : other).artifacts.updateArtifact(id, { content: `content ${n}`, if_version: 1 }, {}),
      );
      const settled = await Promise.allSettled(updates);
      const lost = settled.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
      expect(lost).toHaveLength(9);
      for (const { reason } of lost) expect(reason).toMatchObject({ code: "precondition_failed" });
      expect((await storage.artifacts.getArtifact(id, {})).version).toBe(2);
    });
  });
}

function diffContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("diffVersions", () => {
    test("is unified for text, and only tells whether bytes differ", async ({ storage }) => {
      const { artifacts } = storage;
      const { id } = await create(storage, { content: "one\ntwo\nthree\n" });
      await artifacts.updateArtifact(id, { content: "one\n2\nthree\nfour" }, {});
      await artifacts.updateArtifact(id, { content: Uint8Array.of(1) }, {});
      await artifacts.updateArtifact(id, { content: Uint8Array.of(1), content_type: "image/png" }, {});
      const unified = [
        "--- version 1",
        "+++ version 2",
        "@@ -1,3 +1,4 @@",
        " one",
        "-two",
        "+2",
        " three",
        "+four",
        "\\ No newline at end of file",
        "",
      ];
      expect(await artifacts.diffVersions(id, 1, 2, {})).toEqual({
        id,
        from: 1,
        to: 2,
        changed: true,
        diff: unified.join("\n"),
      });
      expect(await artifacts.diffVersions(id, 2, 2, {})).toEqual({ id, from: 2, to: 2, changed: false, diff: "" });
      expect(await artifacts.diffVersions(id, 2, 3, {})).toEqual({ id, from: 2, to: 3, changed: true, diff: null });
      expect(await artifacts.diffVersions(id, 3, 4, {})).toEqual({ id, from: 3, to: 4, changed: false, diff: null });
      const long = await create(storage, { content: "\n".repeat(2 * 1024 * 1024) });
      await artifacts.updateArtifact(long.id, { content: "a\n".repeat(100_000) }, {});
      const told = { id: long.id, changed: true, diff: null };
      expect(await artifacts.diffVersions(long.id, 1, 2, {})).toEqual({ ...told, from: 1, to: 2 });
      await expect(artifacts.diffVersions(id, 1, 5, {})).rejects.toMatchObject({ code: "artifact_not_found" });
      await expect(artifacts.diffVersions(id, 5, 1, {})).rejects.toMatchObject({ code: "artifact_not_found" });
    });
  });
}
