import { AppError } from "@cognition/contract";
import { applyTreeChanges, decodeTree, decodeTreeChange } from "../snapshot/decode-tree.ts";
import { EMPTY_TREE, encodeTree, type TreeChange } from "../snapshot/tree.ts";
import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import { unpack } from "./snapshot-pack.ts";
import type { SqlValue, Statement } from "./statement.ts";

interface ObjectRow {
  hash: string;
  base: string | null;
  pack: number;
  start: number;
  size: number;
}

/** So many bytes of packs are in memory at a time, and so many names in one statement. */
const PACKS_AT_ONCE = 16;

/** All objects of the names, and the trees that they are changes of, in one round trip however long the chain. */
function selectObjects(db: Database, scope: string, hashes: readonly string[]): Statement {
  const { dialect } = db;
  const sql = `with recursive wanted (hash, base, pack, start, size) as (
      select hash, base, pack, start, size from snapshot_objects where scope = ? and hash in (${dialect.eachText})
      union
      select o.hash, o.base, o.pack, o.start, o.size from wanted w
      join snapshot_objects o on o.scope = ? and o.hash = w.base)
    select hash, base, pack, start, size from wanted`;
  return { sql: placeholders(dialect, sql), params: [scope, JSON.stringify(hashes), scope], prepare: true };
}

/** Reads whole contents. A sweep in between may have moved an object to another pack: then it is looked for again. */
export async function readObjects(
  db: Database,
  scope: string,
  hashes: readonly string[],
  { max_bytes = Number.POSITIVE_INFINITY }: { max_bytes?: number } = {},
): Promise<Map<string, Uint8Array>> {
  const named = [...new Set(hashes)].filter((hash) => hash !== EMPTY_TREE);
  const found = new Map<string, Uint8Array>(hashes.includes(EMPTY_TREE) ? [[EMPTY_TREE, encodeTree([])]] : []);
  if (named.length === 0) return found;
  for (let attempt = 0; ; attempt++) {
    const [result] = await db.readAll([selectObjects(db, scope, named)]);
    const byHash = new Map(((result?.rows ?? []) as unknown as ObjectRow[]).map((row) => [row.hash, row]));
    const { wanted, rows } = firstOf(named, byHash, max_bytes);
    const raw = await readPacks(db, rows);
    if (raw.size < rows.length && attempt < 3) continue;
    for (const hash of wanted) found.set(hash, resolve(hash, byHash, raw));
    return found;
  }
}

/** As many as fit, and the rows that they are read from. */
function firstOf(
  named: readonly string[],
  byHash: ReadonlyMap<string, ObjectRow>,
  max_bytes: number,
): { wanted: string[]; rows: ObjectRow[] } {
  const wanted: string[] = [];
  const rows = new Map<string, ObjectRow>();
  let bytes = 0;
  for (const hash of named) {
    const chain: ObjectRow[] = [];
    for (let row = byHash.get(hash); row && !rows.has(row.hash); row = byHash.get(row.base ?? "")) chain.push(row);
    bytes += chain.reduce((sum, { size }) => sum + size, 0);
    if (wanted.length > 0 && bytes > max_bytes) break;
    wanted.push(hash);
    for (const row of chain) rows.set(row.hash, row);
  }
  return { wanted, rows: [...rows.values()] };
}

async function readPacks(db: Database, rows: readonly ObjectRow[]): Promise<Map<string, Uint8Array>> {
  const byPack = Map.groupBy(rows, ({ pack }) => pack);
  const packs = [...byPack.keys()].sort((a, b) => a - b);
  const contents = new Map<string, Uint8Array>();
  for (let i = 0; i < packs.length; i += PACKS_AT_ONCE) {
    const params: SqlValue[] = [JSON.stringify(packs.slice(i, i + PACKS_AT_ONCE))];
    const sql = `select pk, encoding, content from snapshot_packs where pk in (${db.dialect.eachNumber})`;
    const [result] = await db.readAll([{ sql: placeholders(db.dialect, sql), params, prepare: true }]);
    for (const { pk, encoding, content } of result?.rows ?? []) {
      const plain = await unpack(String(encoding), content as Uint8Array);
      for (const { hash, start, size } of byPack.get(pk as number) ?? []) {
        contents.set(hash, plain.subarray(start, start + size));
      }
    }
  }
  return contents;
}

/** From the whole tree that the chain of changes begins with, forward. */
function resolve(hash: string, rows: ReadonlyMap<string, ObjectRow>, raw: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const changes: TreeChange[] = [];
  let at = hash;
  for (;;) {
    const row = rows.get(at);
    const content = raw.get(at);
    if (at === EMPTY_TREE) break;
    if (!row || !content) throw snapshotNotFound(hash);
    if (row.base === null) break;
    changes.push(decodeTreeChange(content, at));
    at = row.base;
  }
  const start = at === EMPTY_TREE ? encodeTree([]) : (raw.get(at) as Uint8Array);
  if (changes.length === 0) return start;
  return encodeTree(applyTreeChanges(decodeTree(start, at), changes.reverse()));
}

export function snapshotNotFound(hash: string): AppError {
  return new AppError(
    "snapshot_not_found",
    `The stored files ${hash} are not there: they were let go to keep within the quota, or belong to another scope. ` +
      "Nothing was changed; the conversation can still be put back without the files.",
    { details: { snapshot_id: hash } },
  );
}
