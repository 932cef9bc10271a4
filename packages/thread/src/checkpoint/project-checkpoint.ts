import { type Dialect, perDialect, prepared } from "../sql/dialect.ts";
import type { Statement } from "../sql/statement.ts";
import { type MessageFields, messageFieldsOf, messageIdOf } from "./message-fields.ts";

export const MESSAGES = "messages";

/** Rows of messages that are only pending get ids with this prefix, until a checkpoint holds them. */
export const PENDING = "pending:";

export interface Projection {
  session_id: string;
  run_id: string | null;
  checkpoint_id: string;
  created_at: string;
  messages: unknown;
  /** The pieces of the list, and of the one in the head's state, if they are nothing else. */
  now: readonly number[] | undefined;
  then: readonly number[] | undefined;
}

/** A message of the state as its row is to have it. */
export interface ProjectedMessage {
  id: string;
  fields: MessageFields;
}

export interface ProjectedChange {
  statements: Statement[];
  /** What is new or changed, and whether messages have left the state. */
  changed: ProjectedMessage[];
  left: boolean;
}

/**
 * The rows that make the conversation follow a checkpoint which comes right after the head: new messages are added,
 * changed ones set right, those that left the state marked. `undefined` when only a rebuild can tell.
 */
export function projectCheckpoint(dialect: Dialect, projection: Projection): ProjectedChange | undefined {
  const { now, then } = projection;
  const messages = projection.messages ?? [];
  if (!Array.isArray(messages) || !now || !then || now.length !== messages.length) return undefined;
  const kept = keptOf(now, then);
  if (kept === undefined) return undefined;
  const changed = projectedMessages(messages.slice(kept));
  if (changed.length < messages.length - kept) return undefined;
  const left = kept < then.length;
  const statements = [
    ...countNew(dialect, projection.session_id, changed),
    ...makeRoom(dialect, projection.session_id, changed.length),
    ...changed.map((message) => upsert(dialect, projection, message)),
    ...(left ? [markLeft(dialect, projection, messages)] : []),
  ];
  return { statements, changed, left };
}

/** Without those that have no id, or are no messages: a graph may keep anything in its list. */
export function projectedMessages(messages: readonly unknown[]): ProjectedMessage[] {
  return messages.flatMap((message) => {
    const [id, fields] = [messageIdOf(message), messageFieldsOf(message)];
    return id !== undefined && fields ? [{ id, fields }] : [];
  });
}

/** More than a step adds: for so many it is quicker to look them up. */
const FEW = 16;

/**
 * How many messages of the head's state there are at the beginning. Messages may only be added or changed at the end,
 * and only be taken away before it: another order is a rebuild.
 */
function keptOf(now: readonly number[], then: readonly number[]): number | undefined {
  let same = 0;
  while (same < then.length && now[same] === then[same]) same++;
  const added = now.slice(same);
  if (same === then.length && added.length <= FEW) {
    return added.some((number) => then.includes(number)) ? undefined : same;
  }
  const known = new Set(then);
  const firstNew = now.findIndex((number) => !known.has(number));
  const kept = firstNew === -1 ? now.length : firstNew;
  if (!isSubsequence(now.slice(0, kept), then) || now.slice(kept).some((number) => known.has(number))) return undefined;
  return kept;
}

function isSubsequence(part: readonly number[], whole: readonly number[]): boolean {
  let at = 0;
  for (const number of whole) if (number === part[at]) at++;
  return at === part.length;
}

/** Once in a commit that projects a checkpoint: the messages that were only pending are in it, or never will be. */
export function removePending(dialect: Dialect, session_id: string): Statement[] {
  return [
    prepared(dialect, UNCOUNT_PENDING, [session_id, session_id, session_id]),
    prepared(dialect, DELETE_PENDING, [session_id]),
  ];
}

const OF_PENDING = "from messages where session_id = ? and id >= 'pending:' and id < 'pending;'";
const DELETE_PENDING = `delete ${OF_PENDING}`;
/** There are hardly ever any, and a session's row that isn't touched need not be written. */
const UNCOUNT_PENDING = `update sessions set message_count = message_count - (select count(*) ${OF_PENDING})
  where id = ? and exists (select 1 ${OF_PENDING})`;

const COUNT_NEW = perDialect(
  ({ eachText }) => `update sessions set message_count = message_count + (
      select count(*) from (${eachText}) ids
      where not exists (select 1 from messages m where m.session_id = ? and m.id = ids.value and m.position is not null))
    where id = ?`,
);

function countNew(dialect: Dialect, session_id: string, messages: readonly ProjectedMessage[]): Statement[] {
  if (messages.length === 0) return [];
  return [
    prepared(dialect, COUNT_NEW(dialect), [JSON.stringify(messages.map(({ id }) => id)), session_id, session_id]),
  ];
}

/** The last place of what the state holds or held: accepted messages whose run hasn't put them there come after it. */
const LAST = `(select m.position from messages m where m.session_id = ? and m.position is not null
  and m.checkpoint_id is not null order by m.position desc limit 1)`;

const LAST_OF_SESSION = LAST.replace("?", "s.id");

const MAKE_ROOM = `update messages set position = position + ? where session_id = ? and position > coalesce(${LAST}, 0)`;

function makeRoom(dialect: Dialect, session_id: string, places: number): Statement[] {
  if (places === 0) return [];
  return [prepared(dialect, MAKE_ROOM, [places, session_id, session_id])];
}

/**
 * A row that is there keeps its times and its usage, and its place; only, a user's message that was stored when it was
 * accepted gets its place now that it is in the state.
 */
function upsert(
  dialect: Dialect,
  { session_id, run_id, checkpoint_id, created_at }: Projection,
  { id, fields }: ProjectedMessage,
): Statement {
  return prepared(dialect, UPSERT(dialect), [
    id,
    fields.role,
    fields.content,
    fields.tool_calls,
    fields.tool_call_id,
    fields.token_count,
    fields.model_used,
    run_id,
    checkpoint_id,
    created_at,
    session_id,
  ]);
}

const UPSERT = perDialect(
  ({
    bigint,
  }) => `insert into messages (session_id, id, scope, position, role, content, tool_calls, tool_call_id, token_count,
      model_used, parent_id, metadata, run_id, checkpoint_id, created_at)
    select s.id, cast(? as text), s.scope, coalesce(before.position, 0) + 1, cast(? as text), cast(? as text), cast(? as text),
      cast(? as text), cast(? as ${bigint}), cast(? as text), before.id, '{}', cast(? as text), cast(? as text), cast(? as text)
    from sessions s left join messages before on before.session_id = s.id and before.position = ${LAST_OF_SESSION}
    where s.id = ?
    on conflict (session_id, id) do update set
      position = case when messages.checkpoint_id is null then excluded.position else coalesce(messages.position, excluded.position) end,
      role = excluded.role, content = excluded.content, tool_calls = excluded.tool_calls, tool_call_id = excluded.tool_call_id,
      token_count = coalesce(excluded.token_count, messages.token_count),
      model_used = coalesce(excluded.model_used, messages.model_used), left_state = null,
      run_id = coalesce(messages.run_id, excluded.run_id), checkpoint_id = case when messages.position is null then excluded.checkpoint_id else coalesce(messages.checkpoint_id, excluded.checkpoint_id) end`,
);

function markLeft(
  dialect: Dialect,
  { session_id, checkpoint_id }: Projection,
  messages: readonly unknown[],
): Statement {
  const sql = `update messages set left_state = ? where session_id = ? and position is not null and left_state is null
    and checkpoint_id is not null and id not in (${dialect.eachText})`;
  return prepared(dialect, sql, [checkpoint_id, session_id, JSON.stringify(messages.map((m) => messageIdOf(m) ?? ""))]);
}
