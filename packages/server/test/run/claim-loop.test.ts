import { AppError } from "@cognition/contract";
import type { ClaimedRun } from "@cognition/thread";
import { expect, test } from "vitest";
import { ClaimLoop } from "../../src/run/claim-loop.ts";

type Done = () => void;

const ANN = { user: "ann" };

/** One scope's runs wait, and a run of another that nobody can read. */
test("a run of another scope that is damaged takes no places from the scope that has half of them", async () => {
  const begun: string[] = [];
  const errors: unknown[] = [];
  const waiting = ["one", "two", "three", "four"];
  const loop = new ClaimLoop({
    storage: {
      claimRun: async ({ except_scopes = [] }) => {
        if (except_scopes.length > 0 || waiting.length === 0) throw new AppError("corrupt_data", "A run is damaged");
        const run: Partial<ClaimedRun> = { run_id: waiting.shift() ?? "", scopes: ANN };
        return run as ClaimedRun;
      },
      createRun: () => Promise.reject(new Error("not asked for here")),
    },
    owner: "node",
    lease_ms: 30_000,
    max_runs: 4,
    poll_ms: 60_000,
    begin: ({ run_id, scopes }) => {
      begun.push(run_id);
      const [abort, drain, leave, look] = Array.from({ length: 4 }, () => () => undefined) as [Done, Done, Done, Done];
      const finished = new Promise<boolean>(() => undefined);
      return { run_id, session_id: run_id, scopes, abort, drain, leave, look, finished, isHeld: () => true };
    },
    onError: (error) => errors.push(error),
  });
  loop.start();
  await expect.poll(() => begun, { timeout: 10_000 }).toEqual(["one", "two", "three", "four"]);
  expect(errors).not.toEqual([]);
  await loop.stop();
});
