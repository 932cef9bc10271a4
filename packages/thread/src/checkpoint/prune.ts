import type { SqlContext } from "../sql/context.ts";
import { Damage } from "../sql/damaged-rows.ts";
import type { Database } from "../sql/database.ts";
import { type Dialect, placeholders, prepared } from "../sql/dialect.ts";
import { all, type SqlValue, type Statement, type Tx } from "../sql/statement.ts";
import { type CheckpointBody, parseBody } from "./checkpoint-body.ts";
import { threadIdOf } from "./checkpoint-place.ts";
import { deltaChannels, leansOnParent } from "./delta-channels.ts";
import { keptAncestors } from "./kept-ancestors.ts";
import { CHECKPOINT_BYTES, lockLineage, PORTION, sumOf, sweepLineage, WRITE_BYTES } from "./lineage.ts";
import { partOf } from "./part-of.ts";
import { checkPruneOptions } from "./prune-options.ts";
import { keepForks, retag } from "./prune-tags.ts";

export interface PruneOptions {
  /** One thread, or all of them, one after the other. */
  thread_id?: string;
  /** How many of the newest root checkpoints stay; 1 if not said. */
  keep_last?: number;
  /** Only checkpoints from before this time go. */
  before?: Date;
  /** Of the branches that were undone, so many of the youngest keep their ends, which redo goes to; all if not said. */
  keep_undone?: number;
  /** Ends the way through all threads before the next one. */
  signal?: AbortSignal;
}

export interface PruneReport {
  threads: number;
  checkpoints: number;
  pieces: number;
}

interface Row {
  seq: number;
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  body: Uint8Array;
  metadata: string;
  waits: number;
}

/** Each thread is pruned in a transaction of its own: a crash in between leaves whole threads. */
export async function prune({ db }: SqlContext, options: PruneOptions): Promise<PruneReport> {
  checkPruneOptions(options);
  const report: PruneReport = { threads: 0, checkpoints: 0, pieces: 0 };
  const ids =
    options.thread_id === undefined ? await longerThreads(db, options.keep_last) : [threadIdOf(options.thread_id)];
  const damage = new Damage();
  for (const id of ids) {
    if (options.signal?.aborted) break;
    const pruned = await damage.pass(db.transaction(() => pruneThread(db.dialect, id, options)));
    if (!pruned || pruned.checkpoints === 0) continue;
    report.threads += 1;
    report.checkpoints += pruned.checkpoints;
    report.pieces += pruned.pieces;
  }
  damage.tell();
  return report;
}

/** A thread that has no more root checkpoints than stay anyway need not be looked at; most have not. */
async function longerThreads(db: Database, keep_last = 1): Promise<string[]> {
  const sql = `select t.thread_id from threads t where t.deleted_at is null
    and (select count(*) from checkpoints c where c.thread = t.pk and c.ns = '') > ? order by t.pk`;
  const [found] = await db.readAll([{ sql: placeholders(db.dialect, sql), params: [keep_last] }]);
  return (found?.rows ?? []).map(({ thread_id }) => String(thread_id));
}

function* pruneThread(
  dialect: Dialect,
  thread_id: string,
  options: PruneOptions,
): Tx<{ checkpoints: number; pieces: number }> {
  const run = (sql: string, params: SqlValue[]): Statement => ({ sql: placeholders(dialect, sql), params });
  const found = yield* lockLineage(dialect, thread_id);
  const pk = found?.threads.find((one) => one.thread_id === thread_id)?.pk;
  if (!found || pk === undefined) return { checkpoints: 0, pieces: 0 };
  const [rows, forks, head] = yield* all([
    run(
      `select c.seq, c.ns, c.checkpoint_id, c.parent_id, c.body, c.metadata,
         (select count(*) from checkpoint_writes w where w.thread = c.thread and w.ns = c.ns
           and w.checkpoint_id = c.checkpoint_id and w.channel = '__interrupt__') as waits
       from checkpoints c where c.thread = ? order by c.seq`,
      [pk],
    ),
    run(
      `select f.parent_checkpoint_id as id from sessions s join sessions f on f.parent_session_id = s.id
       where s.thread_id = ? and f.parent_checkpoint_id is not null`,
      [thread_id],
    ),
    run("select head as id from threads where pk = ? and head is not null", [pk]),
  ]);
  const checkpoints = (rows?.rows ?? []) as unknown as Row[];
  const neededAt = new Set([...(forks?.rows ?? []), ...(head?.rows ?? [])].map(({ id }) => String(id)));
  const kept = keep(checkpoints, neededAt, options);
  const gone = checkpoints.filter((row) => !kept.has(row.seq));
  if (gone.length === 0) return { checkpoints: 0, pieces: 0 };
  const ancestorOf = keptAncestors(checkpoints, kept);
  let bytes = 0;
  for (let i = 0; i < gone.length; i += PORTION)
    bytes += sumOf(yield* all(removal(dialect, pk, gone.slice(i, i + PORTION))));
  yield* all(retag(dialect, { thread: pk, thread_id, gone: gone.filter(({ ns }) => ns === ""), ancestorOf }));
  const staying = checkpoints.filter((row) => kept.has(row.seq) && row.parent_id !== null);
  yield* all(staying.flatMap((row) => relink(dialect, pk, row, ancestorOf(row)?.checkpoint_id ?? null)));
  const swept = yield* sweepLineage(dialect, found.lineage);
  bytes += swept.bytes;
  // Forks share pieces, and who wrote one is not kept: what is freed may be more than the thread counted.
  const less = "update threads set bytes = case when bytes > ? then bytes - ? else 0 end where pk = ?";
  yield* all([run(less, [bytes, bytes, pk])]);
  return { checkpoints: gone.length, pieces: swept.pieces };
}

/** The rows that stay, by seq. */
function keep(
  rows: readonly Row[],
  neededAt: ReadonlySet<string>,
  { keep_last = 1, before, keep_undone }: PruneOptions,
): Set<number> {
  const kept = new Set<number>();
  const roots = rows.filter((row) => row.ns === "");
  const parents = new Set(rows.map((row) => `${row.ns}\0${row.parent_id}`));
  const isTip = (row: Row) => !parents.has(`${row.ns}\0${row.checkpoint_id}`);
  for (const row of roots.slice(-keep_last)) kept.add(row.seq);
  for (const row of roots) if (neededAt.has(row.checkpoint_id) || isRecent(row, before)) kept.add(row.seq);
  const undone = roots.filter((row) => isTip(row) && !neededAt.has(row.checkpoint_id)).reverse();
  for (const row of undone.slice(0, keep_undone)) kept.add(row.seq);
  keepForks(roots, kept);
  keepSubgraphs(rows, kept, before);
  for (const row of rows) if (row.waits > 0 && isTip(row)) kept.add(row.seq);
  keepAncestorsOfDeltas(rows, kept);
  return kept;
}

function isRecent(row: Row, before: Date | undefined): boolean {
  return before !== undefined && timeOf(row) >= before.getTime();
}

function timeOf(row: Row): number {
  return Date.parse(bodyOf(row).ts);
}

/**
 * A subgraph's checkpoints belong to the root checkpoint they came after, or say that they are part of, and go with it. One that
 * keeps its state from one call to the next (its namespace names no task) needs its newest, and for each root checkpoint what it
 * had then: whoever goes back to that one does its step again, from there.
 */
function keepSubgraphs(rows: readonly Row[], kept: Set<number>, before: Date | undefined): void {
  const newest = new Map<string, Row>();
  const keepNewest = () => {
    for (const { seq } of newest.values()) kept.add(seq);
  };
  const roots = new Map(rows.filter(({ ns }) => ns === "").map((row) => [row.checkpoint_id, row.seq]));
  let isKept = false;
  for (const { row, after } of inOrderOfRoots(rows, roots)) {
    if (row.ns === "") {
      const isNeeded = kept.has(row.seq);
      if (isKept || isNeeded) keepNewest();
      isKept = isNeeded;
      continue;
    }
    if (!row.ns.includes(":")) newest.set(row.ns, row);
    if (isKept || (after !== undefined && kept.has(after)) || isRecent(row, before)) kept.add(row.seq);
  }
  keepNewest();
}

/** What is part of a root checkpoint that was stored later comes after it all the same. */
function inOrderOfRoots(rows: readonly Row[], roots: ReadonlyMap<string, number>): { row: Row; after?: number }[] {
  const placed = rows.map((row) => {
    const after = row.ns === "" ? undefined : roots.get(partOf(row) ?? "");
    return { row, place: Math.max(row.seq, after ?? 0), ...(after !== undefined && { after }) };
  });
  return placed.sort((a, b) => a.place - b.place || Number(a.row.ns !== "") - Number(b.row.ns !== ""));
}

function keepAncestorsOfDeltas(rows: readonly Row[], kept: Set<number>): void {
  const deltas = deltaChannels(rows.map(({ metadata }) => metadata));
  const byId = new Map(rows.map((row) => [`${row.ns}\0${row.checkpoint_id}`, row]));
  // Where one way meets another, the rest of it is known.
  const visited = new Set<Row>();
  for (const row of rows.filter((one) => kept.has(one.seq))) {
    let at: Row | undefined = row;
    while (at && !visited.has(at)) {
      visited.add(at);
      kept.add(at.seq);
      at = leansOnParent(bodyOf(at), deltas) ? byId.get(`${at.ns}\0${at.parent_id}`) : undefined;
    }
  }
}

function bodyOf({ body, checkpoint_id }: Row): CheckpointBody {
  return parseBody(body, `Checkpoint ${checkpoint_id}`);
}

function removal(dialect: Dialect, pk: number, rows: readonly Row[]): Statement[] {
  const seqs = JSON.stringify(rows.map(({ seq }) => seq));
  return [
    prepared(
      dialect,
      `delete from checkpoint_writes where thread = ? and (ns, checkpoint_id) in (
         select ns, checkpoint_id from checkpoints where thread = ? and seq in (${dialect.eachNumber}))
       returning ${WRITE_BYTES} as bytes`,
      [pk, pk, seqs],
    ),
    prepared(
      dialect,
      `delete from checkpoints where thread = ? and seq in (${dialect.eachNumber})
       returning ${CHECKPOINT_BYTES} as bytes`,
      [pk, seqs],
    ),
  ];
}

/** A checkpoint whose parent went names its nearest ancestor that stays, so the tree hangs together. */
function relink(dialect: Dialect, pk: number, { seq, parent_id }: Row, ancestor: string | null): Statement[] {
  const sql = "update checkpoints set parent_id = ? where thread = ? and seq = ?";
  return ancestor === parent_id ? [] : [prepared(dialect, sql, [ancestor, pk, seq])];
}
