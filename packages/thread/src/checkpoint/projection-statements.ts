import { type Dialect, prepared } from "../sql/dialect.ts";
import { inPortions, textByRows, valuesTable } from "../sql/row-portions.ts";
import type { SqlValue, Statement } from "../sql/statement.ts";
import type { Origin, ProjectedChange, ProjectedMessage } from "./project-checkpoint.ts";

/** Rows of messages that are only pending get ids with this prefix, until a checkpoint holds them. */
export const PENDING = "pending:";

/**
 * The rows that make a session's messages follow the checkpoints of one commit, in their order: new messages are added,
 * changed ones set right, those that left the state marked, and those that were only pending are in it, or never will be.
 */
export function projectionStatements(
  dialect: Dialect,
  session_id: string,
  changes: readonly ProjectedChange[],
): Statement[] {
  const statements: Statement[] = [];
  const together = new Map<string, NewRow>();
  const write = () => {
    statements.push(...writeRows(dialect, session_id, [...together.values()]));
    together.clear();
  };
  for (const { changed, appended, stayed, begins: _, ...origin } of changes) {
    for (const message of changed) {
      // What is new follows what was written before it; what has a place keeps it, and what comes next follows the last.
      if (!appended || together.has(message.id)) write();
      together.set(message.id, { ...message, ...origin });
    }
    if (!appended) write();
    if (stayed) statements.push(markLeft(dialect, session_id, origin.checkpoint_id, stayed));
  }
  write();
  if (changes.some(({ begins }) => begins)) statements.push(...removeDropped(dialect, session_id));
  const hasRows = changes.some(({ changed }) => changed.length > 0);
  return hasRows ? statements : [...removePending(dialect, session_id), ...statements];
}

type NewRow = ProjectedMessage & Origin;

function writeRows(dialect: Dialect, session_id: string, rows: readonly NewRow[]): Statement[] {
  return Array.from(inPortions(rows)).flatMap((portion) => {
    const ids = portion.map(({ id }) => id);
    const values = portion.flatMap((row, i) => valuesOf(row, i + 1, ids[i - 1] ?? null));
    const by = (text: typeof COUNT, params: SqlValue[]): Statement => ({
      sql: text(dialect, ids.length),
      params,
      prepare: true,
    });
    return [
      by(COUNT, [ids.length, session_id, ...ids, session_id, session_id]),
      prepared(dialect, DELETE_PENDING, [session_id]),
      by(MAKE_ROOM, [ids.length, session_id, session_id, ...ids]),
      by(UPSERT, [...values, session_id]),
    ];
  });
}

const OF_PENDING = "from messages where session_id = ? and id >= 'pending:' and id < 'pending;'";
const DELETE_PENDING = `delete ${OF_PENDING}`;
/** There are hardly ever any, and a session's row that isn't touched need not be written. */
const UNCOUNT_PENDING = `update sessions set message_count = message_count - (select count(*) ${OF_PENDING})
  where id = ? and exists (select 1 ${OF_PENDING})`;

function removePending(dialect: Dialect, session_id: string): Statement[] {
  return [
    prepared(dialect, UNCOUNT_PENDING, [session_id, session_id, session_id]),
    prepared(dialect, DELETE_PENDING, [session_id]),
  ];
}

/** The new ones come, the pending ones go. */
const COUNT = textByRows(
  (_, rows) => `update sessions set message_count = message_count + ?
      - (select count(*) from messages where session_id = ? and id in (${gaps(rows)}) and position is not null)
      - (select count(*) ${OF_PENDING})
    where id = ?`,
);

/** The last place of what the state holds or held: accepted messages whose run hasn't put them there come after it. */
const LAST = `(select m.position from messages m where m.session_id = ? and m.position is not null
  and m.checkpoint_id is not null order by m.position desc limit 1)`;

/** What a rebuild showed of an unfinished step under an id of its own, and the step was given up: no checkpoint has taken it. */
const OF_DROPPED = `from messages where session_id = ? and position > coalesce(${LAST}, 0)
  and checkpoint_id is null and run_id is not null and role <> 'user'`;
const DELETE_DROPPED = `delete ${OF_DROPPED}`;
const UNCOUNT_DROPPED = `update sessions set message_count = message_count - (select count(*) ${OF_DROPPED})
  where id = ? and exists (select 1 ${OF_DROPPED})`;

function removeDropped(dialect: Dialect, session_id: string): Statement[] {
  return [
    prepared(dialect, UNCOUNT_DROPPED, Array(5).fill(session_id)),
    prepared(dialect, DELETE_DROPPED, Array(2).fill(session_id)),
  ];
}

const LAST_OF_SESSION = LAST.replace("?", "s.id");

/** Those that are about to get their own place stay where they are until then. */
const MAKE_ROOM = textByRows(
  (_, rows) => `update messages set position = position + ?
    where session_id = ? and position > coalesce(${LAST}, 0) and id not in (${gaps(rows)})`,
);

const TYPES = [
  ...(["text", "bigint", "text", "text", "text", "text"] as const),
  ...(["bigint", "text", "text", "text", "text", "text", "text"] as const),
];

/**
 * A row that is there keeps its times, its usage and its metadata, and its place; only, a user's message that was stored when it was
 * accepted gets its place now that it is in the state, after its parent unless it named one, and so does one that had left
 * the state and is back.
 */
const UPSERT = textByRows(
  (
    dialect,
    rows,
  ) => `insert into messages (session_id, id, scope, position, role, content, tool_calls, tool_call_id, token_count,
      model_used, parent_id, metadata, run_id, checkpoint_id, created_at)
    select s.id, v.column1, s.scope, coalesce(before.position, 0) + v.column2, v.column3, v.column4, v.column5, v.column6,
      v.column7, v.column8, coalesce(v.column10, before.id), v.column9, v.column11, v.column12, v.column13
    from sessions s left join messages before on before.session_id = s.id and before.position = ${LAST_OF_SESSION},
      ${valuesTable(dialect, rows, TYPES)} v
    where s.id = ?
    on conflict (session_id, id) do update set
      position = case when messages.checkpoint_id is null or messages.left_state is not null then excluded.position else coalesce(messages.position, excluded.position) end,
      role = excluded.role, content = excluded.content, tool_calls = excluded.tool_calls, tool_call_id = excluded.tool_call_id,
      token_count = coalesce(excluded.token_count, messages.token_count),
      model_used = coalesce(excluded.model_used, messages.model_used),
      metadata = case when messages.metadata = '{}' then excluded.metadata else messages.metadata end, left_state = null,
      parent_id = case when messages.checkpoint_id is null then coalesce(messages.parent_id, excluded.parent_id) else messages.parent_id end,
      run_id = coalesce(messages.run_id, excluded.run_id), checkpoint_id = case when messages.position is null then excluded.checkpoint_id else coalesce(messages.checkpoint_id, excluded.checkpoint_id) end`,
);

function valuesOf({ id, fields, ...origin }: NewRow, place: number, parent_id: string | null): SqlValue[] {
  const { role, content, tool_calls, tool_call_id, token_count, model_used, metadata } = fields;
  const { run_id, checkpoint_id, created_at } = origin;
  const said = [role, content, tool_calls, tool_call_id, token_count, model_used, metadata];
  return [id, place, ...said, parent_id, run_id, checkpoint_id, created_at];
}

function gaps(count: number): string {
  return Array(count).fill("?").join(", ");
}

function markLeft(dialect: Dialect, session_id: string, checkpoint_id: string, stayed: readonly string[]): Statement {
  const sql = `update messages set left_state = ? where session_id = ? and position is not null and left_state is null
    and checkpoint_id is not null and id not in (${dialect.eachText})`;
  return prepared(dialect, sql, [checkpoint_id, session_id, JSON.stringify(stayed)]);
}
