import { all, type SqlValue, type Statement, type Tx } from "../sql/statement.ts";
import { partOf } from "./part-of.ts";

type Run = (sql: string, params: SqlValue[]) => Statement;

interface Point {
  seq: number;
  checkpoint_id: string;
}

interface KeptAt {
  /** A root checkpoint. */
  at: Point;
  /** Whether what they did in that one's own step counts. */
  ownStep: boolean;
}

interface Row extends Point {
  metadata: string;
}

export interface KeptState {
  ns: string;
  /** The checkpoint that holds it; undefined where there was none yet. */
  row: Row | undefined;
}

const PORTION = 20;

/**
 * What subgraphs that keep their state from one call to the next (their namespace names no task) had at a root checkpoint. What
 * is part of a later one is not it, though it may be stored earlier than this one; a state that was copied when the thread went
 * back to this one is stored after it.
 */
export function* keptStates(run: Run, thread: number, kept: KeptAt): Tx<KeptState[]> {
  const [named, next] = yield* all([
    run("select distinct ns from checkpoints where thread = ? and ns > '' and ns not like '%:%'", [thread]),
    run("select min(seq) as seq from checkpoints where thread = ? and ns = '' and seq > ?", [thread, kept.at.seq]),
  ]);
  const end = (next?.rows[0]?.["seq"] ?? Number.MAX_SAFE_INTEGER) as number;
  const states: KeptState[] = [];
  for (const { ns } of named?.rows ?? [])
    states.push({ ns: String(ns), row: yield* newestOf(run, thread, String(ns), { ...kept, end }) });
  return states;
}

function* newestOf(
  run: Run,
  thread: number,
  ns: string,
  { end, ...kept }: KeptAt & { end: number },
): Tx<Row | undefined> {
  for (let before = end; ; ) {
    const [portion] = yield* all([
      run(
        `select seq, checkpoint_id, metadata from checkpoints where thread = ? and ns = ? and seq < ?
         order by seq desc limit ${PORTION}`,
        [thread, ns, before],
      ),
    ]);
    const rows = (portion?.rows ?? []) as unknown as Row[];
    for (const row of rows) if (yield* isKept(run, thread, row, kept)) return row;
    if (rows.length < PORTION) return undefined;
    before = (rows.at(-1) as Row).seq;
  }
}

function* isKept(run: Run, thread: number, row: Row, { at, ownStep }: KeptAt): Tx<boolean> {
  const root = partOf(row);
  if (root === undefined) return true;
  if (root === at.checkpoint_id) return ownStep;
  const sql = "select seq from checkpoints where thread = ? and ns = '' and checkpoint_id = ?";
  const [found] = yield* all([run(sql, [thread, root])]);
  // With durability "exit" only the last one of a run is stored, after all that is part of those before it.
  const seq = (found?.rows[0]?.["seq"] ?? row.seq) as number;
  return seq < at.seq;
}
