import { AppError } from "@cognition/contract";
import {
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
} from "@langchain/langgraph-checkpoint";
import type { Database } from "../sql/database.ts";
import { type Dialect, placeholders } from "../sql/dialect.ts";
import type { SqlValue, Statement } from "../sql/statement.ts";
import { type CheckpointBody, parseBody, toCheckpoint } from "./checkpoint-body.ts";
import { decodeValue } from "./decode.ts";
import type { JsonValue } from "./json-value.ts";
import { MissingPiece, type PieceDecoder } from "./piece-decoder.ts";
import { parseJson } from "./serializer.ts";
import { nextVersion } from "./version.ts";
import { AS_APPLIED } from "./write-statements.ts";

export interface CheckpointRow {
  thread_id: string;
  thread: number;
  lineage: number;
  generation: number;
  seq: number;
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  body: Uint8Array;
  metadata: string;
}

export interface WriteRow {
  ns: string;
  checkpoint_id: string;
  task_id: string;
  idx: number;
  channel: string;
  value: Uint8Array;
}

export const CHECKPOINT_COLUMNS = `t.thread_id, t.pk as thread, coalesce(t.lineage, t.pk) as lineage, t.generation,
  c.seq, c.ns, c.checkpoint_id, c.parent_id, c.body, c.metadata`;

const TASKS = "__pregel_tasks";

/**
 * The newest of a namespace other than the root's. `+ 0`, so that both engines go through the namespace's own
 * checkpoints, of which there are few: by their numbers they would look at all of the thread's for one that has none.
 */
const NEWEST = `(select c.checkpoint_id from checkpoints c join threads t on t.pk = c.thread
  where t.thread_id = ? and c.ns = ? order by c.seq + 0 desc limit 1)`;

/** A checkpoint by id, or the newest, and its pending writes: two statements, one round trip. */
export function selectCheckpoint(dialect: Dialect, thread_id: string, ns: string, id: string | undefined): Statement[] {
  const isHead = id === undefined && ns === "";
  const which = isHead ? "t.head" : id === undefined ? NEWEST : "?";
  const whose: SqlValue[] = isHead ? [] : id === undefined ? [thread_id, ns] : [id];
  return [
    {
      sql: `select ${CHECKPOINT_COLUMNS} from threads t join checkpoints c on c.thread = t.pk
        where t.thread_id = ? and t.deleted_at is null and c.ns = ? and c.checkpoint_id = ${which}`,
      params: [thread_id, ns, ...whose],
    },
    {
      sql: `select w.ns, w.checkpoint_id, w.task_id, w.idx, w.channel, w.value
        from threads t join checkpoint_writes w on w.thread = t.pk
        where t.thread_id = ? and w.ns = ? and w.checkpoint_id = ${which} order by ${AS_APPLIED}`,
      params: [thread_id, ns, ...whose],
    },
  ].map(({ sql, params }) => ({ sql: placeholders(dialect, sql), params, prepare: true }));
}

/** A row and its writes as they were stored; nothing of what they name is fetched yet. */
export interface StoredCheckpoint {
  row: CheckpointRow;
  body: CheckpointBody;
  writes: { task_id: string; channel: string; value: JsonValue }[];
  /** Sends that a checkpoint of an older format left with its parent. */
  parentSends: JsonValue[];
}

export function parseStored(row: CheckpointRow, writes: readonly WriteRow[]): StoredCheckpoint {
  const where = describe(row);
  return {
    row,
    body: parseBody(row.body, where),
    writes: asGiven(writes).map(({ task_id, channel, value }) => ({
      task_id,
      channel,
      value: parseJson(value, `${where}, write to ${channel}`),
    })),
    parentSends: [],
  };
}

/**
 * A task's writes in the places they had when they were put. With durability "exit" LangGraph puts those it has read
 * once more, and only in the same places are they the same writes. The special ones have numbers below zero; where they
 * stood is where the others leave room.
 */
function asGiven(writes: readonly WriteRow[]): WriteRow[] {
  return [...Map.groupBy(writes, ({ task_id }) => task_id).values()].flatMap((ofTask) => {
    const special = ofTask.filter(({ idx }) => idx < 0);
    const given: WriteRow[] = [];
    for (const write of ofTask) {
      if (write.idx < 0) continue;
      given.push(...special.splice(0, write.idx - given.length), write);
    }
    return [...given, ...special];
  });
}

/** Checkpoints of format 1 to 3 keep what they send among the writes of their parent. */
export async function addParentSends(db: Database, stored: readonly StoredCheckpoint[]): Promise<void> {
  const old = stored.filter(({ row, body }) => body.v < 4 && row.parent_id !== null);
  if (old.length === 0) return;
  const results = await db.readAll(
    old.map(({ row }) => ({
      sql: placeholders(
        db.dialect,
        `select value from checkpoint_writes where thread = ? and ns = ? and checkpoint_id = ? and channel = ?
         order by ${AS_APPLIED}`,
      ),
      params: [row.thread, row.ns, row.parent_id, TASKS],
    })),
  );
  old.forEach((checkpoint, i) => {
    checkpoint.parentSends = (results[i]?.rows ?? []).map(({ value }) =>
      parseJson(value as Uint8Array, `${describe(checkpoint.row)}, sends of its parent`),
    );
  });
}

export function namedValues({ body, writes, parentSends }: StoredCheckpoint): JsonValue[] {
  const values = Object.values(body.channels).flatMap(([, value]) => (value === undefined ? [] : [value]));
  return [...values, ...writes.map(({ value }) => value), ...parentSends];
}

export function toTuple({ row, body, writes, parentSends }: StoredCheckpoint, decoder: PieceDecoder): CheckpointTuple {
  const decode = (value: JsonValue) => decoder.decode(value);
  const checkpoint = toCheckpoint(row.checkpoint_id, body, decode);
  if (body.v < 4 && row.parent_id !== null) {
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = parentSends.map(decode);
    checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : nextVersion(undefined);
  }
  const pendingWrites = writes.map(
    ({ task_id, channel, value }): CheckpointPendingWrite => [task_id, channel, decode(value)],
  );
  const metadata = decodeValue(parseMetadata(row), `${describe(row)}: its metadata`) as CheckpointMetadata;
  const tuple: CheckpointTuple = { config: configOf(row, row.checkpoint_id), checkpoint, metadata, pendingWrites };
  if (row.parent_id !== null) tuple.parentConfig = configOf(row, row.parent_id);
  return tuple;
}

/**
 * A checkpoint and what it names are two reads. If another process has removed it in between, with what only it named,
 * that shows as a missing piece: then it is read anew, or is gone.
 */
export async function readWhole(
  db: Database,
  load: () => Promise<StoredCheckpoint | undefined>,
  decode: (stored: StoredCheckpoint) => Promise<CheckpointTuple>,
): Promise<CheckpointTuple | undefined> {
  for (;;) {
    const stored = await load();
    if (!stored) return undefined;
    try {
      return await decode(stored);
    } catch (error) {
      if (!(error instanceof MissingPiece) || !(await wasSwept(db, stored.row))) throw error;
    }
  }
}

async function wasSwept(db: Database, { thread, generation }: CheckpointRow): Promise<boolean> {
  const [now] = await db.read(db.q.selectFrom("threads").select(["generation", "deleted_at"]).where("pk", "=", thread));
  return now?.generation !== generation || now.deleted_at !== null;
}

export function configOf({ thread_id, ns }: { thread_id: string; ns: string }, checkpoint_id: string) {
  return { configurable: { thread_id, checkpoint_ns: ns, checkpoint_id } };
}

function parseMetadata(row: CheckpointRow): JsonValue {
  try {
    return JSON.parse(row.metadata);
  } catch (cause) {
    throw new AppError("corrupt_data", `${describe(row)}: its metadata is not readable`, { cause });
  }
}

function describe({ thread_id, ns, checkpoint_id }: CheckpointRow): string {
  return `Thread ${thread_id}, checkpoint ${checkpoint_id}${ns ? ` of ${ns}` : ""}`;
}
