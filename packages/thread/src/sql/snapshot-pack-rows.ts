import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import type { Pack } from "./snapshot-pack.ts";
import { all, type Statement, type Tx } from "./statement.ts";

/** The scope's row is the lock between those who store objects and the one who sweeps them. */
export function lockScope({ dialect }: Database, scope: string, bytes: number): Statement {
  const sql = `insert into snapshot_scopes (scope, bytes) values (?, ?)
    on conflict (scope) do update set bytes = snapshot_scopes.bytes + excluded.bytes returning bytes`;
  return { sql: placeholders(dialect, sql), params: [scope, bytes], prepare: true };
}

export function* insertPack(
  db: Database,
  scope: string,
  { encoding, size, content, objects }: Pack,
  thread: number | null = null,
): Tx<number> {
  const { dialect } = db;
  const pack = `insert into snapshot_packs (scope, encoding, size, content, thread, created_ms) values (?, ?, ?, ?, ?, ${dialect.nowMs}) returning pk`;
  const [, made] = yield* all([
    lockScope(db, scope, content.length),
    { sql: placeholders(dialect, pack), params: [scope, encoding, size, content, thread], prepare: true },
  ]);
  const pk = made?.rows[0]?.["pk"] as number;
  const sql = `insert into snapshot_objects (scope, hash, kind, base, pack, start, size)
    values (?, ?, ?, ?, ?, ?, ?) on conflict (scope, hash) do nothing`;
  yield* all(
    objects.map(
      ({
        object: {
          hash,
          kind,
          base,
          content: { length },
        },
        start,
      }) => ({
        sql: placeholders(dialect, sql),
        params: [scope, hash, kind, base ?? null, pk, start, length],
        prepare: true,
      }),
    ),
  );
  return content.length;
}

/** The packs that hold these, and count for nobody yet, count for the thread. */
export function countFor({ dialect }: Database, scope: string, thread: number, hashes: readonly string[]): Statement {
  const sql = `update snapshot_packs set thread = ? where thread is null
    and pk in (select o.pack from snapshot_objects o where o.scope = ? and o.hash in (${dialect.eachText}))`;
  return { sql: placeholders(dialect, sql), params: [thread, scope, JSON.stringify(hashes)], prepare: true };
}
