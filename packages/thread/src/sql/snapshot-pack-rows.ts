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

export function* insertPack(db: Database, scope: string, { encoding, size, content, objects }: Pack): Tx<number> {
  const { dialect } = db;
  const pack = `insert into snapshot_packs (scope, encoding, size, content, created_ms) values (?, ?, ?, ?, ${dialect.nowMs}) returning pk`;
  const [, made] = yield* all([
    lockScope(db, scope, content.length),
    { sql: placeholders(dialect, pack), params: [scope, encoding, size, content], prepare: true },
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
