import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../testing/postgres.ts";
import { DATABASE_TROUBLE, NODE_TROUBLE } from "./disturbances.ts";
import { runChaos } from "./run-chaos.ts";

const short = inject("short");
const TROUBLE_MS = short ? 35_000 : 240_000;
const CUSTOMERS = short ? 6 : 12;
const TIMEOUT = 900_000;
const seed = Date.now() % 1_000_000;
let postgres: PostgresServer;

/** A server of its own that keeps what it has said it keeps: this one is killed too. */
beforeAll(async () => {
  postgres = await startPostgres({ durable: true });
});
afterAll(() => postgres.stop());

describe("three nodes on one PostgreSQL", { timeout: TIMEOUT }, () => {
  it("keep every promise while nodes and the database are killed, stopped and cut off", async () => {
    const { complaints, figures } = await runChaos({
      postgres,
      seed,
      trouble_ms: TROUBLE_MS,
      nodes: 3,
      customers: CUSTOMERS,
      node_trouble: NODE_TROUBLE,
      database_trouble: DATABASE_TROUBLE,
    });
    const table = Object.entries(figures).map(([name, value]) => `${String(value).padStart(7)}  ${name}`);
    console.log(`chaos with seed ${seed}\n${table.join("\n")}`);
    expect(complaints, `with seed ${seed}`).toEqual([]);
    expect(figures["taken over"], "runs that went on elsewhere").toBeGreaterThan(0);
  });
});
