import { statSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { createDatabase } from "../../../testing/database.ts";
import { createTempDir } from "../../../testing/temp-dir.ts";
import type { Place } from "./open-side.ts";
import type { Engine } from "./sides.ts";

export interface Room {
  readonly place: Place;
  /** Bytes on disk; call it while nobody has the place open. */
  size(): Promise<number>;
  remove(): Promise<void>;
}

/** An empty place for one thread. */
export async function makeRoom(engine: Engine, serverUrl: string): Promise<Room> {
  if (engine === "sqlite") {
    const dir = createTempDir("cognition-bench-");
    const place = join(dir.path, "state.db");
    return { place, size: async () => fileSize(place) + fileSize(`${place}-wal`), remove: async () => dir.remove() };
  }
  if (engine === "postgres") {
    const { url, drop } = await createDatabase(serverUrl);
    return { place: url, size: () => tableSizes(url), remove: drop };
  }
  return { place: undefined, size: async () => 0, remove: async () => undefined };
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function tableSizes(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "select coalesce(sum(pg_total_relation_size(oid)), 0) as bytes from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  await client.end();
  return Number(rows[0].bytes);
}
