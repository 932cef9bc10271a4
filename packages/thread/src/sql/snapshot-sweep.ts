import { isAppError, type Scope } from "@cognition/contract";
import { decodeTree } from "../snapshot/decode-tree.ts";
import { EMPTY_TREE } from "../snapshot/tree.ts";
import type { NewSnapshotObject, SweepReport } from "../snapshot-store.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import { requireWhole } from "./input-checks.ts";
import { scopeText } from "./scope.ts";
import { packObjects, unpack } from "./snapshot-pack.ts";
import { insertPack, lockScope } from "./snapshot-pack-rows.ts";
import { readObjects } from "./snapshot-read.ts";

import { all, type QueryResult, type SqlValue, type Statement, type Tx } from "./statement.ts";

interface Sweep {
  scope: Scope;
  grace_ms?: number;
  max_bytes?: number;
}

const GRACE_MS = 3_600_000;
const ATTEMPTS = 5;
const PORTION = 500;
/** A pack of which less than this is still led to is written anew with only that. */
const WORTH_KEEPING = 0.5;
/** Of the snapshots that may be let go, so many at a time, oldest first, until the rest fits. */
const STEP = 0.1;

interface ObjectRow {
  hash: string;
  kind: string;
  base: string | null;
  pack: number;
  start: number;
  size: number;
}

export async function sweepSnapshots(ctx: SqlContext, sweep: Sweep): Promise<SweepReport> {
  const { db } = ctx;
  const scope = scopeText(sweep.scope);
  const grace = sweep.grace_ms ?? GRACE_MS;
  requireWhole("grace_ms", grace, Number.MIN_SAFE_INTEGER);
  const report = { ...(await sweepAndCount(db, scope, grace)), forgotten: 0 };
  const { max_bytes } = sweep;
  if (max_bytes === undefined) return report;
  while ((await bytesOf(db, scope)) > max_bytes) {
    const { roots, checkpoints } = await db.transaction(() => forgetOldest(db, scope));
    if (roots.length === 0) break;
    const { objects, bytes } = await sweepAndCount(db, scope, grace, roots);
    report.forgotten += checkpoints;
    report.objects += objects;
    report.bytes += bytes;
  }
  return report;
}

async function bytesOf({ q, read }: Database, scope: string): Promise<number> {
  const query = q.selectFrom("snapshot_scopes").select("bytes").where("scope", "=", scope);
  return (await read(query))[0]?.bytes ?? 0;
}

interface Swept {
  objects: number;
  bytes: number;
  /** For whom they were counted. */
  freed: { thread: number | null; bytes: number }[];
}

/**
 * The threads count less when what was stored for them has gone: after it, not with it, since whoever saves a snapshot
 * holds his thread's row before he wants the scope's.
 */
async function sweepAndCount(
  db: Database,
  scope: string,
  grace: number,
  forgotten: readonly string[] = [],
): Promise<{ objects: number; bytes: number }> {
  const { objects, bytes, freed } = await sweepAgain(() => sweepOnce(db, scope, grace, forgotten));
  const perThread = Map.groupBy(freed, ({ thread }) => thread);
  const less = "update threads set bytes = case when bytes > ? then bytes - ? else 0 end where pk = ?";
  for (const [thread, parts] of perThread) {
    const sum = parts.reduce((total, part) => total + part.bytes, 0);
    if (thread !== null && sum > 0)
      await db.atomic([{ sql: placeholders(db.dialect, less), params: [sum, sum, thread] }]);
  }
  return { objects, bytes };
}

/** Another sweep may remove what this one is reading. */
async function sweepAgain(sweep: () => Promise<Swept>): Promise<Swept> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sweep();
    } catch (error) {
      if (attempt === ATTEMPTS || !isAppError(error, "snapshot_not_found")) throw error;
    }
  }
}

/**
 * Marks while others go on storing, then removes under the scope's lock: what has come to be led to in the meantime is
 * marked before anything goes, and whoever saves a snapshot afterwards is told what he can't find any more. What was let go
 * to make room goes however young it is, or all would be let go and no room be made.
 */
async function sweepOnce(db: Database, scope: string, grace_ms: number, forgotten: readonly string[]): Promise<Swept> {
  const letGo = new Set<string>();
  if (forgotten.length > 0) await mark(db, scope, letGo, forgotten);
  const marked = new Set<string>();
  await mark(db, scope, marked, rootsIn(await db.readAll(selectRoots(db, scope))));
  for (;;) {
    const late = new Set<string>();
    const done = await db.transaction(function* (): Tx<Swept | undefined> {
      yield* all([lockScope(db, scope, 0)]);
      for (const root of rootsIn(yield* all(selectRoots(db, scope)))) if (!marked.has(root)) late.add(root);
      return late.size > 0 ? undefined : yield* remove(db, scope, { marked, letGo, grace_ms });
    });
    if (done) return compact(db, scope, done);
    await mark(db, scope, marked, [...late]);
  }
}

function selectRoots({ dialect }: Database, scope: string): Statement[] {
  const ofCheckpoints = `select distinct c.snapshot as root from threads t join checkpoints c on c.thread = t.pk
    where t.scope = ? and c.snapshot is not null`;
  const ofWorkspaces = "select snapshot_id as root from workspaces where scope = ?";
  return [ofCheckpoints, ofWorkspaces].map((sql) => ({ sql: placeholders(dialect, sql), params: [scope] }));
}

function rootsIn(results: readonly QueryResult[]): string[] {
  return results.flatMap(({ rows }) => rows.map(({ root }) => String(root)));
}

type Kinds = ReadonlyMap<string, Pick<ObjectRow, "kind" | "base">>;

/** A root that was let go before, or whose trees are not all there, marks what there is of it. */
async function mark(db: Database, scope: string, marked: Set<string>, roots: readonly string[]): Promise<void> {
  const kinds = await kindsOf(db, scope);
  let trees = roots.filter((root) => kinds.has(root));
  for (const root of roots) marked.add(root);
  while (trees.length > 0) {
    const next: string[] = [];
    for (let i = 0; i < trees.length; i += PORTION) {
      const contents = await readObjects(db, scope, trees.slice(i, i + PORTION));
      const named = new Set(
        [...contents].flatMap(([tree, content]) => decodeTree(content, tree).map(({ hash }) => hash)),
      );
      const fresh = [...named].filter((hash) => !marked.has(hash));
      for (const hash of fresh) marked.add(hash);
      next.push(...fresh.filter((hash) => kinds.get(hash)?.kind === "tree"));
    }
    trees = next;
  }
  markBases(kinds, marked);
}

/** A tree that is kept as a change of another needs that one. */
function markBases(kinds: Kinds, marked: Set<string>): void {
  for (const hash of marked) {
    for (let base = kinds.get(hash)?.base; base && !marked.has(base); base = kinds.get(base)?.base) marked.add(base);
  }
}

async function kindsOf(db: Database, scope: string): Promise<Kinds> {
  const query = db.q.selectFrom("snapshot_objects").select(["hash", "kind", "base"]).where("scope", "=", scope);
  return new Map((await db.read(query)).map(({ hash, kind, base }) => [hash, { kind, base }]));
}

interface Removal {
  marked: ReadonlySet<string>;
  letGo: ReadonlySet<string>;
  grace_ms: number;
}

function* remove(db: Database, scope: string, { marked, letGo, grace_ms }: Removal): Tx<Swept> {
  const { dialect } = db;
  const sql = `select o.hash, o.base, case when o.pack in (
    select p.pk from snapshot_packs p where p.scope = ? and p.created_ms <= (select ${dialect.nowMs}) - ?) then 1 else 0 end as old
    from snapshot_objects o where o.scope = ?`;
  const [found] = yield* all([{ sql: placeholders(dialect, sql), params: [scope, grace_ms, scope] }]);
  const objects = (found?.rows ?? []) as unknown as { hash: string; base: string | null; old: number }[];
  const garbage = new Set(
    objects.flatMap(({ hash, old }) => (!marked.has(hash) && (old === 1 || letGo.has(hash)) ? hash : [])),
  );
  spareBases(objects, garbage);
  const gone = [...garbage];
  for (let i = 0; i < gone.length; i += PORTION) {
    const each = `delete from snapshot_objects where scope = ? and hash in (${dialect.eachText})`;
    const params: SqlValue[] = [scope, JSON.stringify(gone.slice(i, i + PORTION))];
    yield* all([{ sql: placeholders(dialect, each), params }]);
  }
  const freed = yield* removeEmptyPacks(db, scope);
  return { objects: gone.length, bytes: freed.reduce((sum, { bytes }) => sum + bytes, 0), freed };
}

/** A young tree that is kept as a change of another could not be read without that one, and would be taken for stored. */
function spareBases(objects: readonly { hash: string; base: string | null }[], garbage: Set<string>): void {
  const bases = new Map(objects.map(({ hash, base }) => [hash, base]));
  for (const [hash, base] of bases) {
    if (garbage.has(hash)) continue;
    for (let at = base; at && garbage.delete(at); ) at = bases.get(at) ?? null;
  }
}

/** A pack is stored together with what is in it, so one with nothing in it is nobody's. */
function* removeEmptyPacks(db: Database, scope: string): Tx<Swept["freed"]> {
  const { dialect } = db;
  const sql = `delete from snapshot_packs where scope = ?
    and pk not in (select o.pack from snapshot_objects o where o.scope = ?) returning thread, length(content) as bytes`;
  const [gone] = yield* all([{ sql: placeholders(dialect, sql), params: [scope, scope] }]);
  const freed = (gone?.rows ?? []) as unknown as Swept["freed"];
  const bytes = freed.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes > 0) yield* all([lockScope(db, scope, -bytes)]);
  return freed;
}

/** Packs of which little is left are written anew; readers find the objects in either. */
async function compact(db: Database, scope: string, done: Swept): Promise<Swept> {
  if (done.objects === 0) return done;
  const freed = [...done.freed];
  let { bytes } = done;
  for (const pack of await sparsePacks(db, scope)) {
    const less = await rewrite(db, scope, pack);
    freed.push(less);
    bytes += less.bytes;
  }
  return { objects: done.objects, bytes, freed };
}

async function sparsePacks(db: Database, scope: string): Promise<number[]> {
  const sql = `select p.pk from snapshot_packs p join snapshot_objects o on o.scope = p.scope and o.pack = p.pk
    where p.scope = ? group by p.pk having sum(o.size) < ${WORTH_KEEPING} * max(p.size)`;
  const [found] = await db.readAll([{ sql: placeholders(db.dialect, sql), params: [scope] }]);
  return (found?.rows ?? []).map(({ pk }) => pk as number);
}

async function rewrite(db: Database, scope: string, pack: number): Promise<Swept["freed"][number]> {
  const [stored, held] = await db.readAll([
    {
      sql: placeholders(db.dialect, "select encoding, content from snapshot_packs where pk = ?"),
      params: [pack],
    },
    {
      sql: placeholders(
        db.dialect,
        "select hash, kind, base, start, size from snapshot_objects where scope = ? and pack = ?",
      ),
      params: [scope, pack],
    },
  ]);
  const row = stored?.rows[0];
  const objects = (held?.rows ?? []) as unknown as ObjectRow[];
  if (!row || objects.length === 0) return { thread: null, bytes: 0 };
  const plain = await unpack(String(row["encoding"]), row["content"] as Uint8Array);
  const kept = objects.map(
    ({ hash, kind, base, start, size }): NewSnapshotObject => ({
      hash,
      kind: kind as NewSnapshotObject["kind"],
      content: plain.subarray(start, start + size),
      ...(base === null ? {} : { base }),
    }),
  );
  const packs = await packObjects(kept);
  return db.transaction(function* (): Tx<Swept["freed"][number]> {
    const [, still, gone] = yield* all([
      lockScope(db, scope, 0),
      {
        sql: placeholders(db.dialect, "delete from snapshot_objects where scope = ? and pack = ? returning hash"),
        params: [scope, pack],
      },
      {
        sql: placeholders(
          db.dialect,
          "delete from snapshot_packs where pk = ? returning thread, length(content) as bytes",
        ),
        params: [pack],
      },
    ]);
    const [before] = (gone?.rows ?? []) as unknown as Swept["freed"];
    // Another sweep has written it anew, or removed it with the last of its objects: it is counted no more.
    if (!before) return { thread: null, bytes: 0 };
    yield* all([lockScope(db, scope, -before.bytes)]);
    // Nor does what another one has removed from it come back.
    const left = new Set(still?.rows.map(({ hash }) => hash));
    let after = 0;
    for (const one of packs) {
      const objects = one.objects.filter(({ object: { hash } }) => left.has(hash));
      after += yield* insertPack(db, scope, { ...one, objects }, before.thread);
    }
    return { thread: before.thread, bytes: before.bytes - after };
  });
}

/**
 * The oldest checkpoints lose their files: never a thread's head, which is also where it waits for an answer, nor what a
 * workspace stands at. Nor is the empty folder forgotten, which takes no room. Ids of checkpoints begin with their time.
 */
function* forgetOldest(db: Database, scope: string): Tx<{ roots: string[]; checkpoints: number }> {
  const { dialect } = db;
  const sql = `select c.snapshot from threads t join checkpoints c on c.thread = t.pk
    where t.scope = ? and c.snapshot is not null and c.snapshot <> ? and c.snapshot not in (select w.snapshot_id from workspaces w where w.scope = ?)
      and c.snapshot not in (select h.snapshot from threads x join checkpoints h on h.thread = x.pk and h.checkpoint_id = x.head
        where x.scope = ? and h.snapshot is not null)
    group by c.snapshot order by max(c.checkpoint_id)`;
  const [found] = yield* all([{ sql: placeholders(dialect, sql), params: [scope, EMPTY_TREE, scope, scope] }]);
  const snapshots = (found?.rows ?? []).map(({ snapshot }) => String(snapshot));
  const roots = snapshots.slice(0, Math.ceil(snapshots.length * STEP));
  if (roots.length === 0) return { roots, checkpoints: 0 };
  const clear = `update checkpoints set snapshot = null where snapshot in (${dialect.eachText})
    and thread in (select pk from threads where scope = ?)`;
  const [cleared] = yield* all([{ sql: placeholders(dialect, clear), params: [JSON.stringify(roots), scope] }]);
  return { roots, checkpoints: cleared?.changes ?? 0 };
}
