import { standsAt, standsKey, type Written } from "../checkpoint/stands.ts";
import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import { storedJson } from "./json-text.ts";
import { all, type Tx } from "./statement.ts";

/** A root checkpoint on the way from another one to the beginning. */
export interface Ancestor {
  checkpoint_id: string;
  parent_id: string | null;
  seq: number;
  isFork: boolean;
}

/**
 * The checkpoint and those before it, nearest first, no more than `limit`. Of what is written beside the conversation, those
 * that it comes after: where a rewind took the two to different places, they are others than the conversation's.
 */
export function* readAncestors(
  db: Database,
  thread: number,
  checkpoint_id: string,
  limit: number,
  of?: Written,
): Tx<Ancestor[]> {
  const ancestors: Ancestor[] = [];
  let next: string | null = checkpoint_id;
  while (next !== null && ancestors.length < limit) {
    const chain: Chained[] = yield* readChain(db, thread, next, limit - ancestors.length, of);
    ancestors.push(...chain);
    next = chain.at(-1)?.goesOnAt ?? null;
  }
  return ancestors;
}

interface Chained extends Ancestor {
  /** Of the last one, if that is not where it ends. */
  goesOnAt: string | null;
}

/** As far as each comes after its parent. */
function* readChain(
  { dialect }: Database,
  thread: number,
  checkpoint_id: string,
  limit: number,
  of: Written | undefined,
): Tx<Chained[]> {
  // The thread is carried along: where it is a constant, PostgreSQL may go through all of the thread at each step.
  const sql = `with recursive chain (thread, checkpoint_id, parent_id, seq, metadata, depth) as (
      select thread, checkpoint_id, parent_id, seq, metadata, 1 from checkpoints where thread = ? and ns = '' and checkpoint_id = ?
      union all
      select p.thread, p.checkpoint_id, p.parent_id, p.seq, p.metadata, chain.depth + 1 from chain
      join checkpoints p on p.thread = chain.thread and p.ns = '' and p.checkpoint_id = chain.parent_id
      where chain.depth < ? and chain.metadata not like ?)
    select checkpoint_id, parent_id, seq, metadata from chain order by depth`;
  const [found] = yield* all([{ sql: placeholders(dialect, sql), params: [thread, checkpoint_id, limit, markOf(of)] }]);
  return (found?.rows ?? []).map((row) => {
    const text = String(row["metadata"]);
    const metadata = storedJson(text, `The metadata of checkpoint ${row["checkpoint_id"]}`) as { source?: string };
    const parent_id = row["parent_id"] as string | null;
    // What only looks like a note, somewhere in what a graph says of its checkpoints, has stopped the query as well.
    const isStop = of !== undefined && text.includes(`"${standsKey(of)}":`);
    return {
      checkpoint_id: String(row["checkpoint_id"]),
      parent_id,
      seq: row["seq"] as number,
      isFork: metadata.source === "fork",
      goesOnAt: isStop ? (standsAt(metadata, of) ?? parent_id) : null,
    };
  });
}

/** What no text of JSON is like, where there is nothing to stop at. */
function markOf(of: Written | undefined): string {
  return of === undefined ? "" : `%"${standsKey(of)}":%`;
}

/** What lies between two checkpoints of one thread: what going from the first to the second undoes, and does again. */
export interface Way {
  /** The nearest checkpoint that both come from; undefined if there is none. */
  common: string | undefined;
  /** From the first one back, without the common one. */
  undone: Ancestor[];
  /** From the second one back, likewise. */
  redone: Ancestor[];
}

/** Most ways are short, whatever the thread's length: what is further back is looked for in further goes. */
const FAR = [32, 512, 1_000_000_000];

export function* readWay(db: Database, thread: number, from: string, to: string, of?: Written): Tx<Way> {
  let way: Way | undefined;
  for (const limit of FAR) {
    way = yield* lookBack(db, thread, { from, to, of }, limit);
    if (way.common !== undefined) break;
  }
  return way ?? { common: undefined, undone: [], redone: [] };
}

interface Ends {
  from: string;
  to: string;
  of: Written | undefined;
}

function* lookBack(db: Database, thread: number, { from, to, of }: Ends, limit: number): Tx<Way> {
  const before = yield* readAncestors(db, thread, from, limit, of);
  const after = yield* readAncestors(db, thread, to, limit, of);
  const seen = new Set(before.map(({ checkpoint_id }) => checkpoint_id));
  const common = after.find(({ checkpoint_id }) => seen.has(checkpoint_id))?.checkpoint_id;
  const upTo = (way: readonly Ancestor[]) =>
    common === undefined
      ? [...way]
      : way.slice(
          0,
          way.findIndex(({ checkpoint_id }) => checkpoint_id === common),
        );
  return { common, undone: upTo(before), redone: upTo(after) };
}

/**
 * Under which heads things were written along a way, besides the ends': what is written after a checkpoint belongs to the
 * one that follows, unless that one is a fork, before which everything that followed was undone.
 */
export function tagsOf(way: readonly Ancestor[]): string[] {
  return way.flatMap(({ parent_id, isFork }) => (parent_id === null || isFork ? [] : [parent_id]));
}
