import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { createDatabase } from "../../../../testing/database.ts";
import { type PostgresServer, startPostgres } from "../../../../testing/postgres.ts";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { VERSION } from "../../src/version.ts";
import { createFleet, type FleetNode } from "./fleet.ts";
import { makeNextRelease, NEXT_SCHEMA, NEXT_VERSION } from "./next-release.ts";
import { createPatientClient } from "./patient-client.ts";
import { runChaos } from "./run-chaos.ts";

/** Nobody waits for it: whoever leaves hands over. */
const LEASE_MS = 30_000;
const TROUBLE_MS = inject("short") ? 8_000 : 30_000;
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres({ durable: true });
});
afterAll(() => postgres.stop());

it("nodes of this release and of the next one work side by side, and nobody notices", {
  timeout: 900_000,
}, async () => {
  const seed = Date.now() % 1_000_000;
  const options = { postgres, seed, nodes: 3, customers: 4, trouble_ms: TROUBLE_MS, lease_ms: LEASE_MS };
  const { complaints, figures } = await runChaos({ ...options, node_trouble: ["upgrade"], database_trouble: [] });
  console.log(`rolling upgrade: ${JSON.stringify(figures)}`);
  expect(complaints).toEqual([]);
  expect(figures["failed"]).toBe(0);
  expect(figures["nodes of the next release"]).toBeGreaterThan(0);
});

it("a node of this release is refused by a database that the next one has closed to it, and goes on where it had begun", {
  timeout: 900_000,
}, async () => {
  const { url: uri, drop } = await createDatabase(postgres.url);
  const dir = createTempDir("cognition-next-");
  const next = makeNextRelease(join(dir.path, "next"), { compatible: false });
  const fleet = await createFleet({ size: 3, folder: dir.path, uri, ledger: join(dir.path, "ledger.jsonl"), next });
  onTestFinished(async () => {
    await fleet.dispose();
    await drop();
    dir.remove();
  });
  const [early, late, newer] = fleet.nodes as [FleetNode, FleetNode, FleetNode];
  await early.start();
  await newer.start({ next: true });
  expect([early.version, newer.version]).toEqual([VERSION, NEXT_VERSION]);
  await expect(late.start()).rejects.toThrow(`may only be used by programs that know schema ${NEXT_SCHEMA} or later`);
  for (const node of [early, newer]) {
    const client = createPatientClient(`http://127.0.0.1:${node.port}`);
    const { id } = await client.createSession({});
    const { id: run_id } = await client.submitMessage(id, "Hello");
    expect(await client.followRun(id, run_id).rest()).toMatchObject({ data: { status: "succeeded" } });
  }
  expect(fleet.deaths).toEqual([]);
});
