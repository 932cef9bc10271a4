import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../testing/postgres.ts";
import type { Trouble } from "./disturbances.ts";
import { MUTANTS, type Mutant } from "./mutants.ts";
import { runChaos } from "./run-chaos.ts";

/** The trouble that shows it: a stopped node that wakes up, or one that dies in the middle. */
const TROUBLE: Record<Mutant, Trouble> = { fencing: "pause", journaling: "kill", "commit before send": "kill" };
/** In the middle of a tool: what follows it is written by a node that has lost its run, or done once more. */
const AIMED: readonly Mutant[] = ["fencing", "journaling"];
const TROUBLE_MS = 12_000;
/** Whether what was hit is of the kind that matters is chance. */
const ROUNDS = 5;
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres({ durable: true });
});
afterAll(() => postgres.stop());

// Minutes: the short form trusts that the long one has seen the checker complain.
describe.skipIf(inject("short")).each(MUTANTS)("three nodes without %s", (mutant) => {
  it("are found out by the checker", { timeout: 1_800_000 }, async () => {
    let complaints: readonly string[] = [];
    for (let round = 0; round < ROUNDS && complaints.length === 0; round++) {
      const options = {
        postgres,
        seed: Date.now() % 1_000_000,
        nodes: 3,
        customers: 6,
        mutant,
        aimed: AIMED.includes(mutant),
      };
      const trouble = { trouble_ms: TROUBLE_MS, node_trouble: [TROUBLE[mutant]], database_trouble: [] };
      ({ complaints } = await runChaos({ ...options, ...trouble }));
    }
    console.log(`without ${mutant}: ${complaints.length} complaints, the first: ${complaints[0]?.slice(0, 200)}`);
    expect(complaints).not.toEqual([]);
  });
});
