import type { Message } from "@cognition/contract";
import type { MessageFields } from "../checkpoint/message-fields.ts";
import type { RebuildReport } from "../message-store.ts";
import type { SqlContext } from "./context.ts";
import { keptMetadata, type MessageRow } from "./message-row.ts";
import { inPortions, textByRows, valuesTable } from "./row-portions.ts";
import { all, type Statement, statement, type Tx } from "./statement.ts";

/** The conversation along the head's ancestry, as rows should have it. */
export interface WantedMessage extends MessageFields {
  id: string;
  /** The first that holds it; null while it is only pending, since the one that will hold it is not there yet. */
  checkpoint_id: string | null;
  run_id: string | null;
  left_state: string | null;
  created_at: string;
}

interface Difference {
  session_id: string;
  scope: string;
  existing: readonly MessageRow[];
  wanted: readonly WantedMessage[];
  inputs: readonly MessageRow[];
  /** The checkpoints that lead to the head, oldest first, and all that the thread has. */
  ancestry: ReadonlySet<string>;
  checkpoints: ReadonlySet<string>;
}

/** Brings the rows to what they should be, and tells what was wrong with them. */
export function* repairMessages(ctx: SqlContext, difference: Difference): Tx<RebuildReport> {
  const { q } = ctx.db;
  const { session_id, scope, existing, wanted, inputs, checkpoints } = difference;
  const report: RebuildReport = { checked: existing.length, repaired: 0, added: 0, removed: 0 };
  const { history, removed } = yield* sortOut(ctx, difference);
  report.removed = removed;
  const known = new Map(existing.map((row) => [row.id, row]));
  const places = placesOf([...history, ...wanted, ...inputs], wanted.length + inputs.length, known);
  let parent_id: string | null = history.at(-1)?.id ?? null;
  // All at once: of a long conversation, a round trip for each of them would take seconds.
  const writes: Statement[] = [];
  const moved: Moved[] = [];
  for (const one of wanted) {
    const row = known.get(one.id);
    const position = places.get(one.id) as number;
    if (!row) {
      const added = { ...one, session_id, scope, position, parent_id };
      writes.push(statement(q.insertInto("messages").values(added)));
      report.added++;
    } else {
      const { position: _, ...right } = repairOf(row, one, position, checkpoints);
      const repair = change(ctx, row, right);
      writes.push(...repair);
      if (row.position !== position) moved.push([row.pk, position]);
      if (repair.length > 0 || row.position !== position) report.repaired++;
    }
    parent_id = one.id;
  }
  for (const { pk, id, position } of [...history, ...inputs]) {
    const place = places.get(id) as number;
    if (position !== place) moved.push([pk, place]);
  }
  yield* all([...writes, ...movements(ctx, moved)]);
  const message_count = places.size;
  yield* all([statement(q.updateTable("sessions").set({ message_count }).where("id", "=", session_id))]);
  return report;
}

/** Where each stands: as it is, if that is the right order already. Before it all, what is only known from its row. */
function placesOf(
  order: readonly { id: string }[],
  ofState: number,
  known: ReadonlyMap<string, MessageRow>,
): Map<string, number> {
  const kept = order.map(({ id }) => known.get(id)?.position ?? 0);
  const state = kept.slice(-ofState || kept.length);
  const inOrder = kept.every((place) => place > 0) && state.every((place, i) => i === 0 || place > (state[i - 1] ?? 0));
  return new Map(order.map(({ id }, i) => [id, inOrder ? (kept[i] as number) : i + 1]));
}

/**
 * Rows that the head's ancestry doesn't account for. One that was in the state before the oldest checkpoint which is
 * left of it is history. One of another branch loses its place, and stays readable by its id. All others are foreign.
 */
function* sortOut(ctx: SqlContext, difference: Difference): Tx<{ history: MessageRow[]; removed: number }> {
  const { existing, wanted, inputs, ancestry, checkpoints } = difference;
  const staying = new Set([...wanted, ...inputs].map(({ id }) => id));
  const [oldest] = ancestry;
  const history: MessageRow[] = [];
  const writes: Statement[] = [];
  let removed = 0;
  for (const row of existing.filter(({ id, position }) => !staying.has(id) && position !== null)) {
    const { left_state, checkpoint_id } = row;
    if (left_state !== null && (left_state === oldest || !checkpoints.has(left_state))) history.push(row);
    else if (checkpoint_id !== null && !ancestry.has(checkpoint_id))
      writes.push(...change(ctx, row, { position: null }));
    else {
      writes.push(statement(ctx.db.q.deleteFrom("messages").where("pk", "=", row.pk)));
      removed++;
    }
  }
  yield* all(writes);
  return { history, removed };
}

type Moved = readonly [pk: number, position: number];

/** Many rows in a statement: of a fork's messages all have to get their places. */
function movements({ db: { dialect } }: SqlContext, moved: readonly Moved[]): Statement[] {
  return Array.from(inPortions(moved), (portion) => ({
    sql: MOVE(dialect, portion.length),
    params: portion.flat(),
    prepare: true,
  }));
}

const MOVE = textByRows(
  (
    dialect,
    rows,
  ) => `update messages set position = v.column2 from ${valuesTable(dialect, rows, ["bigint", "bigint"])} v
    where messages.pk = v.column1`,
);

/** None if the row has it all already. */
function change({ db }: SqlContext, row: MessageRow, right: Partial<MessageRow>): Statement[] {
  if (Object.entries(right).every(([key, value]) => row[key as keyof MessageRow] === value)) return [];
  return [statement(db.q.updateTable("messages").set(right).where("pk", "=", row.pk))];
}

/** The row as it should be. What only the row knows (its times, its usage, a checkpoint that was pruned) stays. */
function repairOf(
  row: MessageRow,
  wanted: WantedMessage,
  position: number,
  checkpoints: ReadonlySet<string>,
): Partial<MessageRow> {
  const wasPruned = row.checkpoint_id !== null && !checkpoints.has(row.checkpoint_id);
  return {
    position,
    role: wanted.role as Message["role"],
    content: wanted.content,
    tool_calls: wanted.tool_calls,
    tool_call_id: wanted.tool_call_id,
    token_count: wanted.token_count ?? row.token_count,
    model_used: wanted.model_used ?? row.model_used,
    metadata: keptMetadata(row, wanted.metadata),
    run_id: row.run_id ?? wanted.run_id,
    checkpoint_id: wasPruned ? row.checkpoint_id : wanted.checkpoint_id,
    left_state: wanted.left_state,
  };
}
