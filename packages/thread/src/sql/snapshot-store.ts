import { AppError, type Scope } from "@cognition/contract";
import { decodeTree, decodeTreeChange } from "../snapshot/decode-tree.ts";
import { EMPTY_TREE } from "../snapshot/tree.ts";
import type { NewSnapshotObject, SavedSnapshot, SnapshotStore } from "../snapshot-store.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import { fixedQuery } from "./fixed-query.ts";
import { advanceLeased, writeLeased } from "./lease-fence.ts";
import { isFree } from "./run-claim.ts";
import { scopeText } from "./scope.ts";
import { packObjects } from "./snapshot-pack.ts";
import { countFor, insertPack, lockScope } from "./snapshot-pack-rows.ts";
import { readObjects, snapshotNotFound } from "./snapshot-read.ts";
import { sweepSnapshots } from "./snapshot-sweep.ts";
import { all, changes, first, type SqlValue, type Statement, statement, type Tx } from "./statement.ts";
import { advanceThread, explainRefusal } from "./thread-row.ts";

const selectCurrent = fixedQuery<{ thread_id: string }>(({ q }, { thread_id }) =>
  q
    .selectFrom("workspaces")
    .innerJoin("threads", "threads.pk", "workspaces.thread")
    .select("workspaces.snapshot_id")
    .where("threads.thread_id", "=", thread_id),
);

export function createSnapshotStore(ctx: SqlContext): SnapshotStore {
  const { db } = ctx;
  return {
    missingObjects: async (scope, hashes) => {
      const wanted = [...new Set(hashes)].filter((hash) => hash !== EMPTY_TREE);
      if (wanted.length === 0) return [];
      const [found] = await db.readAll([selectKnown(db, scopeText(scope), wanted)]);
      return without(wanted, found?.rows ?? []);
    },
    putObjects: (scope, objects) => putObjects(ctx, scope, objects),
    readObjects: (scope, hashes, limit) => readObjects(db, scopeText(scope), hashes, limit),
    saveSnapshot: (snapshot) => saveSnapshot(ctx, snapshot),
    currentSnapshot: async (thread_id) => {
      const [found] = await db.readAll([selectCurrent(db, { thread_id })]);
      return (found?.rows[0]?.snapshot_id as string | undefined) ?? null;
    },
    snapshotBytes: async (scope) => {
      const query = db.q.selectFrom("snapshot_scopes").select("bytes").where("scope", "=", scopeText(scope));
      return (await db.read(query))[0]?.bytes ?? 0;
    },
    snapshotScopes: async () => {
      const found = await db.read(db.q.selectFrom("snapshot_scopes").select("scope").orderBy("scope"));
      return found.map(({ scope }) => JSON.parse(scope) as Scope);
    },
    sweepSnapshots: (sweep) => sweepSnapshots(ctx, sweep),
  };
}

function selectKnown({ dialect }: Database, scope: string, hashes: readonly string[]): Statement {
  const sql = `select hash, kind from snapshot_objects where scope = ? and hash in (${dialect.eachText})`;
  return { sql: placeholders(dialect, sql), params: [scope, JSON.stringify(hashes)], prepare: true };
}

function without(wanted: readonly string[], rows: readonly Record<string, SqlValue>[]): string[] {
  const known = new Set(rows.map(({ hash }) => hash));
  return wanted.filter((hash) => !known.has(hash));
}

async function putObjects({ db }: SqlContext, scope: Scope, objects: readonly NewSnapshotObject[]): Promise<number> {
  const unique = [...new Map(objects.map((object) => [object.hash, object])).values()];
  const owner = scopeText(scope);
  const [known] =
    unique.length === 0
      ? []
      : await db.readAll([
          selectKnown(
            db,
            owner,
            unique.map(({ hash }) => hash),
          ),
        ]);
  const missing = new Set(
    without(
      unique.map(({ hash }) => hash),
      known?.rows ?? [],
    ),
  );
  const added = unique.filter(({ hash }) => missing.has(hash));
  added.forEach(requireReadable);
  const packs = await packObjects(added);
  let bytes = 0;
  // A transaction each: none of them holds up other writers for long, and an object means nothing before it is named.
  for (const pack of packs) bytes += await db.transaction(() => insertPack(db, owner, pack));
  return bytes;
}

/** What can't be read back as a folder would stop every later sweep of its scope. */
function requireReadable({ hash, kind, content, base }: NewSnapshotObject): void {
  if (kind === "blob" && base === undefined) return;
  try {
    if (kind !== "tree")
      throw new Error(base === undefined ? `${kind} is no kind of object` : "only a tree has a base");
    if (base === undefined) decodeTree(content, hash);
    else decodeTreeChange(content, hash);
  } catch (cause) {
    const message = `Object ${hash} can't be stored: ${(cause as Error).message}. Nothing was stored.`;
    throw new AppError("validation_failed", message, { cause });
  }
}

async function saveSnapshot(ctx: SqlContext, snapshot: SavedSnapshot): Promise<string[]> {
  const { db } = ctx;
  const { lease, thread_id } = snapshot;
  const save = () => db.transaction(() => savePointer(ctx, snapshot));
  if (lease) return writeLeased(db, lease, save);
  return save().catch(async (error) => {
    throw error?.code === "stale_epoch" ? await explainRefusal(db, { thread_id }, undefined) : error;
  });
}

function* savePointer(
  { db, now }: SqlContext,
  { thread_id, snapshot_id, objects, bytes, lease, unless_held = false }: SavedSnapshot,
): Tx<string[]> {
  const fence = lease ? advanceLeased(db, lease, { thread_id }) : advanceThread(db, { thread_id }, { events: 0 });
  const [thread] = yield* all([fence]);
  const [row] = (thread?.rows ?? []) as unknown as { pk: number; scope: string }[];
  if (!row) throw new AppError("thread_not_found", `There is no thread ${thread_id}`);
  const { pk, scope } = row;
  if (unless_held) yield* refuseWhileHeld(db, pk, thread_id);
  const named = [...new Set([snapshot_id, ...objects])].filter((hash) => hash !== EMPTY_TREE);
  // Locked first: what is found now can't be swept before this commits and leads to it.
  const [, known] = yield* all([lockScope(db, scope, 0), selectKnown(db, scope, named)]);
  const missing = without(named, known?.rows ?? []);
  if (missing.length > 0) return missing;
  const root = known?.rows.find(({ hash }) => hash === snapshot_id);
  if (root && root["kind"] !== "tree") throw notAFolder(snapshot_id);
  yield* moveWorkspace(db, { thread: pk, scope, snapshot_id, updated_at: now() });
  if (bytes > 0) {
    const counted = db.q.updateTable("threads").set((eb) => ({ bytes: eb("bytes", "+", bytes) }));
    yield* all([statement(counted.where("pk", "=", pk)), countFor(db, scope, pk, named)]);
  }
  return [];
}

/** Until this commits nothing of the scope is swept, and it is told what has been. */
export function* requireStored(db: Database, scope: string, hashes: readonly string[]): Tx<void> {
  const named = [...new Set(hashes)].filter((hash) => hash !== EMPTY_TREE);
  if (named.length === 0) return;
  const [, known] = yield* all([lockScope(db, scope, 0), selectKnown(db, scope, named)]);
  const [missing] = without(named, known?.rows ?? []);
  if (missing !== undefined) throw snapshotNotFound(missing);
}

function notAFolder(snapshot_id: string): AppError {
  const message = `Object ${snapshot_id} is a file, and a snapshot is the folder of a whole workspace; nothing was saved`;
  return new AppError("validation_failed", message);
}

/** The caller has locked the thread's row: nobody takes it before this commits. */
function* refuseWhileHeld({ q, dialect }: Database, pk: number, thread_id: string): Tx<void> {
  const free = yield* first(
    q.selectFrom("threads").select("pk").where("pk", "=", pk).where(isFree("threads", dialect)),
  );
  if (free) return;
  const message = `A run is at work on thread ${thread_id}: where its files stand is not changed under it`;
  throw new AppError("session_busy", message);
}

/** Where the thread's files stand from now on. */
export function* moveWorkspace(
  { q }: Database,
  row: { thread: number; scope: string; snapshot_id: string; updated_at: string },
): Tx<void> {
  const { snapshot_id, updated_at } = row;
  const insert = q.insertInto("workspaces").values(row);
  yield* changes(insert.onConflict((conflict) => conflict.column("thread").doUpdateSet({ snapshot_id, updated_at })));
}
