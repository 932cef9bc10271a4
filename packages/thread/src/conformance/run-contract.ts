import { describe, expect, it } from "vitest";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { runAbortContract } from "./run-abort-contract.ts";
import { runAdmissionContract } from "./run-admission-contract.ts";
import { runClaimContract } from "./run-claim-contract.ts";
import { runEndContract } from "./run-end-contract.ts";
import { runPauseContract } from "./run-pause-contract.ts";
import { claim, endOf, startRun } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

export function runContract(open: OpenStorage): void {
  runAdmissionContract(open);
  runClaimContract(open);
  runPauseContract(open);
  runAbortContract(open);
  runEndContract(open);

  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("getRun and listRuns", () => {
    test("give every field, newest first, by page", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({ agent_name: "coder" });
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.unshift((await storage.createRun({ session_id })).run.id);
      const page = async (limit?: number, offset?: number) => {
        const bounds = { ...(limit !== undefined && { limit }), ...(offset !== undefined && { offset }) };
        return (await storage.listRuns(session_id, bounds)).map(({ id }) => id);
      };
      expect(await page()).toEqual(ids);
      expect(await page(2)).toEqual(ids.slice(0, 2));
      expect(await page(3, 3)).toEqual(ids.slice(3));
      expect(await page(3, 5)).toEqual([]);
      const older = await storage.listRuns(session_id, { before: ids[1] ?? "", limit: 2 });
      expect(older.map(({ id }) => id)).toEqual(ids.slice(2, 4));
      expect(await storage.getRun(ids[0] ?? "")).toEqual({
        id: ids[0],
        session_id,
        status: "queued",
        attempt: 0,
        resumes: null,
        agent_name: "coder",
        agent_revision: null,
        model: null,
        usage: null,
        error: null,
        trace_id: null,
        checkpoint_id: null,
        created_at: expect.stringMatching(/Z$/),
        started_at: null,
        finished_at: null,
      });
    });

    test("those of one status are listed and counted by themselves, by page too", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.finishRun(lease, endOf("failed"));
      const ids: string[] = [];
      for (let n = 0; n < 3; n++) ids.unshift((await storage.createRun({ session_id })).run.id);
      const listed = async (page: Parameters<typeof storage.listRuns>[1]) =>
        (await storage.listRuns(session_id, page)).map(({ id }) => id);
      expect(await listed({ status: "failed" })).toEqual([lease.run_id]);
      expect(await listed({ status: "queued", limit: 2 })).toEqual(ids.slice(0, 2));
      expect(await listed({ status: "queued", limit: 2, offset: 2 })).toEqual(ids.slice(2));
      expect(await listed({ status: "aborted" })).toEqual([]);
      const counts = (["failed", "queued", "aborted"] as const).map((status) =>
        storage.countRuns(session_id, { status }),
      );
      expect(await Promise.all(counts)).toEqual([1, 3, 0]);
      expect(await storage.countRuns(session_id)).toBe(4);
      expect(await storage.countRuns(session_id, { scope: { user: "bob" } })).toBe(0);
    });

    test("another scope's run is not there", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage, { user: "ann" });
      await expect(storage.getRun(lease.run_id, { user: "bob" })).rejects.toMatchObject({ code: "run_not_found" });
      await expect(storage.getRun(lease.run_id, {})).rejects.toMatchObject({ code: "run_not_found" });
      await expect(storage.getRun("no such run")).rejects.toMatchObject({ code: "run_not_found" });
      expect(await storage.listRuns(session_id, { scope: { user: "bob" } })).toEqual([]);
      expect(await storage.listRuns(session_id, { scope: { user: "ann" } })).toHaveLength(1);
      expect((await storage.getRun(lease.run_id, { user: "ann" })).id).toBe(lease.run_id);
      expect(await storage.listRuns("no such session")).toEqual([]);
    });

    test("odd inputs, names and traces come back as they went in, also after a restart", async ({
      storage,
      reopen,
    }) => {
      const { id: session_id } = await storage.createSession({});
      const input = { texts: [...ODD_TEXTS, LONG_TEXT, "nul \u0000", "half \ud83d of a pair"] };
      const names = { agent_name: ODD_TEXTS[2] ?? "", model: ODD_TEXTS[5] ?? "", trace_id: ODD_TEXTS[6] ?? "" };
      const { run } = await storage.createRun({ session_id, input, ...names });
      const after = reopen ? await reopen() : storage;
      expect(await after.getRun(run.id)).toMatchObject(names);
      expect((await claim(after)).input).toEqual(input);
      expect(await after.getRunInput(run.id)).toEqual(input);
      await expect(after.getRunInput("no such run")).rejects.toMatchObject({ code: "run_not_found" });
    });
  });
}
