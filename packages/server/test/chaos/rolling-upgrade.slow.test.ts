import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../testing/postgres.ts";
import { runChaos } from "./run-chaos.ts";

const TROUBLE_MS = inject("short") ? 8_000 : 30_000;
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres({ durable: true });
});
afterAll(() => postgres.stop());

it("nodes of this release and of the next one work side by side, and nobody notices", {
  timeout: 300_000,
}, async () => {
  const options = { postgres, seed: Date.now() % 1_000_000, nodes: 3, customers: 4, trouble_ms: TROUBLE_MS };
  const { complaints, figures } = await runChaos({ ...options, node_trouble: ["upgrade"], database_trouble: [] });
  console.log(`rolling upgrade: ${JSON.stringify(figures)}`);
  expect(complaints).toEqual([]);
  expect(figures["failed"]).toBe(0);
});
