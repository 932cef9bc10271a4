import { isDeepStrictEqual } from "node:util";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointListOptions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import { requireKnown } from "../sql/known-names.ts";
import type { SqlValue, Statement } from "../sql/statement.ts";
import { threadIdOf } from "./checkpoint-place.ts";
import { allPartOf } from "./part-of.ts";
import { PieceDecoder } from "./piece-decoder.ts";
import {
  addParentSends,
  CHECKPOINT_COLUMNS,
  type CheckpointRow,
  namedValues,
  parseStored,
  readWhole,
  type StoredCheckpoint,
  selectCheckpoint,
  toTuple,
  type WriteRow,
} from "./read-checkpoint.ts";
import { AS_APPLIED } from "./write-statements.ts";

/** So many are in memory at a time, however long the history is. */
const PAGE = 20;

/** Newest first: within a thread in the order of writing, across threads by checkpoint id. */
export async function* listCheckpoints(
  db: Database,
  config: RunnableConfig,
  options: CheckpointListOptions = {},
): AsyncGenerator<CheckpointTuple> {
  requireKnown("Checkpoints", options, ["limit", "before", "filter"]);
  const { limit, before, filter } = options;
  let left = limit ?? Number.POSITIVE_INFINITY;
  let last: CheckpointRow | undefined;
  while (left > 0) {
    const [page] = await db.readAll([selectPage(db, config, before, last)]);
    const rows = (page?.rows ?? []) as unknown as CheckpointRow[];
    last = rows.at(-1);
    for (const tuple of await readTuples(db, await withoutLater(db, rows, before))) {
      if (filter && !matches(tuple, filter)) continue;
      yield tuple;
      if (--left <= 0) return;
    }
    if (rows.length < PAGE) return;
  }
}

function selectPage(
  db: Database,
  config: RunnableConfig,
  before: RunnableConfig | undefined,
  last: CheckpointRow | undefined,
): Statement {
  const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
  const conditions = ["t.deleted_at is null"];
  const params: SqlValue[] = [];
  const narrow = (condition: string, ...values: SqlValue[]) => {
    conditions.push(condition);
    params.push(...values);
  };
  if (thread_id !== undefined) narrow("t.thread_id = ?", threadIdOf(thread_id));
  if (checkpoint_ns !== undefined && checkpoint_ns !== null) narrow("c.ns = ?", checkpoint_ns);
  if (checkpoint_id) narrow("c.checkpoint_id = ?", checkpoint_id);
  const limit = before?.configurable?.["checkpoint_id"];
  // The named checkpoint may be in another namespace of the thread (a subgraph is read as of its parent's).
  if (limit) {
    const named = "(select max(b.seq) from checkpoints b where b.thread = t.pk and b.checkpoint_id = ?)";
    narrow(`coalesce(c.seq < ${named}, c.checkpoint_id < ?)`, limit, limit);
  }
  // A page begins where the one before ended: what is put meanwhile shifts nothing.
  const columns = thread_id === undefined ? ["c.checkpoint_id", "c.thread", "c.seq"] : ["c.thread", "c.seq"];
  if (last) {
    const ended: SqlValue[] = [last.thread, last.seq];
    if (thread_id === undefined) ended.unshift(last.checkpoint_id);
    narrow(`(${columns.join(", ")}) < (${ended.map(() => "?").join(", ")})`, ...ended);
  }
  const order = columns.map((column) => `${column} desc`).join(", ");
  return {
    sql: placeholders(
      db.dialect,
      `select ${CHECKPOINT_COLUMNS} from threads t join checkpoints c on c.thread = t.pk
       where ${conditions.join(" and ")} order by ${order} limit ${PAGE}`,
    ),
    params,
  };
}

/**
 * A subgraph as of a checkpoint above it does not hold what it did from there on, though that may be stored earlier than
 * the checkpoint itself.
 */
async function withoutLater(
  db: Database,
  rows: CheckpointRow[],
  before: RunnableConfig | undefined,
): Promise<CheckpointRow[]> {
  const limit = before?.configurable?.["checkpoint_id"];
  const parts = rows.filter(({ ns }) => ns !== "");
  if (!limit || parts.length === 0) return rows;
  const threads = [...Map.groupBy(parts, ({ thread }) => thread)];
  const found = await db.readAll(threads.map(([thread, ofThread]) => selectLater(db, thread, ofThread, limit)));
  const later = new Set<CheckpointRow>();
  for (const [i, [, ofThread]] of threads.entries()) {
    for (const { ns, checkpoint_id } of found[i]?.rows ?? [])
      for (const row of ofThread) if (allPartOf(row)[String(ns)] === checkpoint_id) later.add(row);
  }
  return rows.filter((row) => !later.has(row));
}

/** Of what the rows are part of: that checkpoint, and what comes after it. */
function selectLater(db: Database, thread: number, rows: readonly CheckpointRow[], limit: string): Statement {
  const ids = [...new Set(rows.flatMap((row) => Object.values(allPartOf(row))))];
  const sql = `select c.ns, c.checkpoint_id from checkpoints c
    join checkpoints b on b.thread = c.thread and b.ns = c.ns and b.checkpoint_id = ?
    where c.thread = ? and c.checkpoint_id in (${db.dialect.eachText}) and c.seq >= b.seq`;
  return { sql: placeholders(db.dialect, sql), params: [limit, thread, JSON.stringify(ids)] };
}

async function readTuples(db: Database, rows: readonly CheckpointRow[]): Promise<CheckpointTuple[]> {
  if (rows.length === 0) return [];
  const results = await db.readAll(rows.map((row) => selectWrites(db, row)));
  const stored = rows.map((row, i) => parseStored(row, (results[i]?.rows ?? []) as unknown as WriteRow[]));
  await addParentSends(db, stored);
  const tuples: CheckpointTuple[] = [];
  for (const one of stored) {
    let first: StoredCheckpoint | undefined = one;
    const load = async () => {
      const found = first ?? (await loadAgain(db, one.row));
      first = undefined;
      return found;
    };
    const tuple = await readWhole(db, load, (found) => decode(db, found));
    if (tuple) tuples.push(tuple);
  }
  return tuples;
}

/** A decoder each: two checkpoints that share a message still give two objects, as two reads would. */
async function decode(db: Database, stored: StoredCheckpoint): Promise<CheckpointTuple> {
  const decoder = new PieceDecoder(db, stored.row.lineage, `Thread ${stored.row.thread_id}`);
  await decoder.fetch(namedValues(stored));
  return toTuple(stored, decoder);
}

async function loadAgain(db: Database, row: CheckpointRow): Promise<StoredCheckpoint | undefined> {
  const [found, writes] = await db.readAll(selectCheckpoint(db.dialect, row.thread_id, row.ns, row.checkpoint_id));
  const again = found?.rows[0] as unknown as CheckpointRow | undefined;
  if (!again) return undefined;
  const stored = parseStored(again, (writes?.rows ?? []) as unknown as WriteRow[]);
  await addParentSends(db, [stored]);
  return stored;
}

function selectWrites(db: Database, { thread, ns, checkpoint_id }: CheckpointRow): Statement {
  const sql = `select ns, checkpoint_id, task_id, idx, channel, value from checkpoint_writes
    where thread = ? and ns = ? and checkpoint_id = ? order by ${AS_APPLIED}`;
  return { sql: placeholders(db.dialect, sql), params: [thread, ns, checkpoint_id], prepare: true };
}

function matches({ metadata }: CheckpointTuple, filter: Record<string, unknown>): boolean {
  const held = metadata as Record<string, unknown> | undefined;
  return Object.entries(filter).every(([key, value]) => isDeepStrictEqual(held?.[key], value));
}
