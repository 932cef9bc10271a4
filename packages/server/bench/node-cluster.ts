import { join } from "node:path";
import { createDatabase } from "../../../testing/database.ts";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { type Client, createClient } from "../../client/src/index.ts";
import { createFleet, type FleetNode } from "../test/chaos/fleet.ts";

export interface NodeClient {
  node: FleetNode;
  client: Client;
}

/** Node processes with the settings that a server has by default, each with a client of its own. */
export interface Cluster {
  readonly url: string;
  readonly running: readonly NodeClient[];
  /** Runs so many, the first ones. */
  resize(nodes: number): Promise<void>;
  close(): Promise<void>;
}

export async function openCluster(postgresUrl: string, size: number): Promise<Cluster> {
  const database = await createDatabase(postgresUrl);
  const dir = createTempDir("cognition-bench-");
  const fleet = await createFleet({
    size,
    folder: dir.path,
    uri: database.url,
    ledger: join(dir.path, "ledger.jsonl"),
  });
  const all = fleet.nodes.map((node) => ({
    node,
    client: createClient({ baseUrl: `http://127.0.0.1:${node.port}`, maxReconnects: 1_000 }),
  }));
  return {
    url: database.url,
    get running() {
      return all.filter(({ node }) => node.running);
    },
    resize: async (nodes) => {
      for (const [index, { node }] of all.entries()) await (index < nodes ? node.start() : node.end("SIGTERM"));
    },
    close: async () => {
      await fleet.dispose();
      await database.drop();
      dir.remove();
    },
  };
}
