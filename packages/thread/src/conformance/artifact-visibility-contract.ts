import { describe, expect, it } from "vitest";
import type { ArtifactReader } from "../artifact-store.ts";
import type { Storage } from "../storage.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const ANN = { user: "ann" };
const BOB = { user: "bob" };

const NOT_FOUND = { code: "artifact_not_found" };

export function artifactVisibilityContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("visibility", () => {
    test("and scope hold for every call", async ({ storage }) => {
      const made = await storage.createSession({ scopes: ANN });
      const other = await storage.createSession({ scopes: ANN });
      const session_id = made.id;
      const run = { scope: ANN, session_id, run_id: "run" };
      const session = { scope: ANN, session_id };
      const readers: Record<string, ArtifactReader> = {
        run,
        session,
        "another run": { ...run, run_id: "run 2" },
        "another session": { scope: ANN, session_id: other.id, run_id: "run" },
        scope: { scope: ANN },
        "a run without its session": { scope: ANN, run_id: "run" },
        "another scope": { scope: BOB, session_id, run_id: "run" },
        "a wider scope": { scope: { ...ANN, project: "p" }, session_id, run_id: "run" },
        "no scope's own": { scope: {}, session_id, run_id: "run" },
        "no scope asked": { session_id, run_id: "run" },
        "a session with odd characters": { scope: ANN, session_id: "' or 1=1 -- \0", run_id: "%" },
      };
      const ofSession = ["run", "session", "another run", "no scope asked"];
      const inScope = [
        ...ofSession,
        "another session",
        "scope",
        "a run without its session",
        "a session with odd characters",
      ];
      const seenBy = { run: ["run", "no scope asked"], private: ofSession, public: inScope };

      for (const visibility of ["run", "private", "public"] as const) {
        const fields = { name: visibility, artifact_type: "artifact", content: "1", run_id: "run" } as const;
        const { id } = await storage.artifacts.createArtifact({ ...fields, visibility, session_id, scopes: ANN });
        await storage.artifacts.updateArtifact(id, { content: "2" }, run);
        for (const [name, reader] of Object.entries(readers)) {
          const seen = seenBy[visibility].includes(name);
          await expectAll(storage, id, reader, seen, `${visibility} by ${name}`);
        }
      }
    });

    test("an id that is none is not found", async ({ storage }) => {
      for (const id of ["", "nothing", "\0", "'", "\ud800"]) {
        await expect(storage.artifacts.getArtifact(id, {})).rejects.toMatchObject(NOT_FOUND);
        expect(await storage.artifacts.deleteArtifact(id, {})).toBe(false);
      }
    });
  });
}

/** The same answer from every method; what changes something runs last, and only where it must be refused. */
async function expectAll(
  storage: Storage,
  id: string,
  reader: ArtifactReader,
  seen: boolean,
  what: string,
): Promise<void> {
  const { artifacts } = storage;
  const calls = [
    () => artifacts.getArtifact(id, reader),
    () => artifacts.readContent(id, reader),
    () => artifacts.readContent(id, reader, 1),
    () => artifacts.listVersions(id, reader),
    () => artifacts.getVersion(id, 1, reader),
    () => artifacts.diffVersions(id, 1, 2, reader),
    () => artifacts.updateArtifact(id, {}, reader),
  ];
  for (const call of calls) {
    if (seen) await call();
    else await expect(call(), `${what}: ${call}`).rejects.toMatchObject(NOT_FOUND);
  }
  const { artifacts: listed, total } = await artifacts.listArtifacts(reader);
  expect(
    listed.some((artifact) => artifact.id === id),
    what,
  ).toBe(seen);
  expect(listed).toHaveLength(total);
  if (seen) return;
  await expect(artifacts.updateArtifact(id, { content: "3" }, reader), what).rejects.toMatchObject(NOT_FOUND);
  expect(await artifacts.deleteArtifact(id, reader), what).toBe(false);
}
