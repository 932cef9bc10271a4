import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createDatabase } from "../../../../testing/database.ts";
import { startPostgres } from "../../../../testing/postgres.ts";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { until } from "../http/until.ts";
import { createFleet } from "./fleet.ts";
import { createPatientClient } from "./patient-client.ts";

it("while its database is away a node says so on /ready, and what it worked on goes on afterwards", async () => {
  const postgres = await startPostgres({ durable: true });
  const { url: uri } = await createDatabase(postgres.url);
  const dir = createTempDir();
  const fleet = await createFleet({ size: 1, folder: dir.path, uri, ledger: join(dir.path, "ledger.jsonl") });
  onTestFinished(async () => {
    await fleet.dispose();
    await postgres.stop();
    dir.remove();
  });
  const [node] = fleet.nodes;
  await node?.start();
  const base = `http://127.0.0.1:${node?.port}`;
  const ready = (status: number) => async () => (await fetch(`${base}/ready`)).status === status || undefined;
  await until("the node to be ready", ready(200));
  const client = createPatientClient(base);
  const { id } = await client.createSession({});
  const { id: run_id } = await client.submitMessage(
    id,
    'Use the linger tool with note="1", then use the linger tool with note="2", then use the linger tool with note="3"',
  );
  for await (const event of client.followRun(id, run_id)) if (event.event === "tool_call") break;
  await postgres.kill();
  await until("the node to say that it is not ready", ready(503));
  await postgres.restart();
  await until("the node to be ready again", ready(200));
  const rest = await client.followRun(id, run_id).rest();
  expect(rest).toMatchObject({ event: "done", data: { status: "succeeded" } });
  expect(fleet.deaths).toEqual([]);
});
