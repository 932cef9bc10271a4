import type { AppError } from "@cognition/contract";
import { type Dialect, prepared } from "../sql/dialect.ts";
import type { SqlValue, Statement } from "../sql/statement.ts";
import type { NewPiece } from "./piece-encoder.ts";
import {
  type CheckpointInsert,
  checkpointParams,
  checkpointsSql,
  guardThread,
  insertCheckpoints,
  insertPieces,
  insertWrites,
  pieceParams,
  piecesSql,
  type ThreadGuard,
  type ThreadSource,
  type WriteInsert,
  writeParams,
  writesSql,
} from "./write-statements.ts";

/** What one commit adds to a thread, and what must be true of the thread. */
export interface ThreadWrite {
  guard: Omit<ThreadGuard, "checkpoints" | "bytes">;
  pieces: readonly NewPiece[];
  checkpoints: readonly CheckpointInsert[];
  writes: readonly WriteInsert[];
}

/** The first statement gives the thread's row as it is then, or refuses. */
export function threadStatements(dialect: Dialect, write: ThreadWrite, refused: () => AppError): Statement[] {
  const { pieces, checkpoints, writes } = write;
  const { thread_id } = write.guard;
  const { sql, params } = guardThread(dialect, {
    ...write.guard,
    checkpoints: checkpoints.length,
    bytes: bytesOf(write),
  });
  if (dialect.changesInWith && isSmall(write))
    return [{ ...together(dialect, sql, params, write), requireRow: refused }];
  return [
    { ...prepared(dialect, sql, params), requireRow: refused },
    ...insertPieces(dialect, thread_id, pieces),
    ...insertCheckpoints(dialect, thread_id, checkpoints),
    ...insertWrites(dialect, thread_id, writes),
  ];
}

/** As much as a superstep of an agent writes. Each number of rows is a text of its own, which every connection prepares. */
const ROWS_TOGETHER = 4;

function isSmall({ pieces, checkpoints, writes }: ThreadWrite): boolean {
  if (pieces.length > ROWS_TOGETHER || checkpoints.length > 1 || writes.length > ROWS_TOGETHER) return false;
  return !writes.some(({ replace }) => replace);
}

const FROM_GUARD: ThreadSource = { from: "guard t", where: "" };
const PIECES = piecesSql(FROM_GUARD);
const CHECKPOINTS = checkpointsSql(FROM_GUARD);
const WRITES = writesSql("do nothing", FROM_GUARD);

/** One statement is one message to the server, one answer, and needs no begin and commit around it. */
function together(dialect: Dialect, guard: string, params: readonly SqlValue[], write: ThreadWrite): Statement {
  const { pieces, checkpoints, writes } = write;
  return {
    with: membersOf(dialect, guard, [pieces.length, checkpoints.length, writes.length]),
    sql: "select pk, checkpoint_seq, event_seq, generation from guard",
    params: [
      ...params,
      ...pieceParams(pieces),
      ...checkpoints.flatMap((row) => checkpointParams(row, 0)),
      ...writeParams(writes),
    ],
    prepare: true,
  };
}

/** By guard and numbers of rows. */
const memberLists = new Map<string, readonly string[]>();

function membersOf(dialect: Dialect, guard: string, counts: [pieces: number, checkpoints: number, writes: number]) {
  const key = `${guard} ${counts.join(" ")}`;
  let members = memberLists.get(key);
  if (!members) {
    const inserts = [PIECES, CHECKPOINTS, WRITES].flatMap((sql, i) => {
      const rows = counts[i] as number;
      return rows > 0 ? `insert_${i} as (${sql(dialect, rows)})` : [];
    });
    members = [`guard as (${guard})`, ...inserts];
    memberLists.set(key, members);
  }
  return members;
}

/** What the rows take, their numbers included. */
function bytesOf({ pieces, checkpoints, writes }: ThreadWrite): number {
  let bytes = 0;
  for (const { value } of pieces) bytes += NUMBER_BYTES + value.length;
  for (const { ns, checkpoint_id, parent_id, body, metadata, snapshot } of checkpoints)
    bytes += NUMBER_BYTES + lengths(ns, checkpoint_id, parent_id, body, metadata, snapshot);
  for (const { ns, checkpoint_id, task_id, channel, value, task_path } of writes)
    bytes += NUMBER_BYTES + lengths(ns, checkpoint_id, task_id, channel, value, task_path);
  return bytes;
}

const NUMBER_BYTES = 8;

function lengths(...values: readonly (string | Uint8Array | null)[]): number {
  let sum = 0;
  for (const value of values) sum += value?.length ?? 0;
  return sum;
}
