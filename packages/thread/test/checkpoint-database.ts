import { CheckpointSaver, type CheckpointSaverOptions } from "../src/checkpoint/checkpoint-saver.ts";
import { type SqlContext, systemContext } from "../src/sql/context.ts";
import type { Database } from "../src/sql/database.ts";
import { databases } from "./databases.ts";

export interface OpenDatabase {
  db: Database;
  ctx: SqlContext;
  saver: CheckpointSaver;
  /** A saver of another process. */
  another(options?: CheckpointSaverOptions): CheckpointSaver;
}

/** Below the storage: a saver on a database whose tables a test may look into. */
export const savers = databases.map(({ name, create }) => ({
  name,
  async run(body: (open: OpenDatabase) => Promise<void>, wrap = (db: Database) => db): Promise<void> {
    const data = await create();
    const opened: SqlContext[] = [];
    const open = () => {
      const ctx = systemContext(wrap(data.open()));
      opened.push(ctx);
      return ctx;
    };
    try {
      const ctx = open();
      const another = (options?: CheckpointSaverOptions) => new CheckpointSaver(open(), options);
      await body({ db: ctx.db, ctx, saver: new CheckpointSaver(ctx), another });
    } finally {
      for (const { feed, db } of opened) {
        feed.close();
        await db.close();
      }
      await data.remove();
    }
  },
}));

export async function countRows(db: Database, table: "pieces" | "checkpoints" | "checkpoint_writes"): Promise<number> {
  const [row] = await db.read(db.q.selectFrom(table).select((eb) => eb.fn.countAll().as("count")));
  return Number(row?.count);
}
