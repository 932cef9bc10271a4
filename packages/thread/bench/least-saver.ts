import { DatabaseSync } from "node:sqlite";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import pg from "pg";
import { NullSaver } from "./null-saver.ts";
import type { OpenSide, Place } from "./open-side.ts";
import type { Side } from "./sides.ts";

type Store = (text: string) => unknown;

/**
 * The least that "sync" can cost: at each superstep one row, with the newest message and the versions, in one commit. It looks
 * at no message twice, keeps no pending writes, refuses nobody and can't be read; a saver that keeps its promises does all
 * that besides.
 */
class LeastSaver extends NullSaver {
  readonly #store: Store;
  commits = 0;

  constructor(store: Store) {
    super();
    this.#store = store;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata?: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const { id, ts, channel_versions, versions_seen, channel_values } = checkpoint;
    const newest = (channel_values["messages"] as object[] | undefined)?.at(-1);
    this.commits++;
    await this.#store(JSON.stringify({ id, ts, channel_versions, versions_seen, metadata, newest }));
    return super.put(config, checkpoint);
  }
}

export function openLeast({ engine }: Side, place: Place): Promise<OpenSide> {
  return engine === "postgres" ? openOnPostgres(place as string) : openOnSqlite(place as string);
}

async function openOnSqlite(path: string): Promise<OpenSide> {
  const db = new DatabaseSync(path);
  db.exec("pragma journal_mode = wal; pragma synchronous = full; create table steps (text text)");
  const insert = db.prepare("insert into steps values (?)");
  const saver = new LeastSaver((text) => insert.run(text));
  return { saver, durableCommits: () => saver.commits, close: async () => db.close() };
}

async function openOnPostgres(url: string): Promise<OpenSide> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create table steps (text text)");
  const insert = { name: "insert", text: "insert into steps values ($1)" };
  const saver = new LeastSaver((text) => client.query({ ...insert, values: [text] }));
  return { saver, durableCommits: () => saver.commits, close: () => client.end() };
}
