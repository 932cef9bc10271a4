import type { Message } from "@cognition/contract";
import { AppError } from "@cognition/contract";
import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import type { SqlValue, Statement, Tx } from "../sql/statement.ts";
import type { TimelineEntry, TimelineMessage } from "../timeline-store.ts";
import { type CheckpointBody, parseBody } from "./checkpoint-body.ts";
import { TAG } from "./encode.ts";
import type { JsonValue } from "./json-value.ts";
import { LIST } from "./list-entries.ts";
import { listNumbers, selectPieces } from "./list-pieces.ts";
import { messageFieldsOf, messageIdOf } from "./message-fields.ts";
import { PieceDecoder } from "./piece-decoder.ts";
import { PIECE } from "./piece-encoder.ts";
import { MESSAGES } from "./project-checkpoint.ts";
import { parseJson } from "./serializer.ts";

/** Of a state's messages so many are looked at, from the end: the model's last word and the results of its tools. */
const TAIL = 12;
const TASKS = "__pregel_tasks";
const BRANCH = "branch:to:";
const START = "__start__";

interface Row {
  checkpoint_id: string;
  parent_id: string | null;
  body: Uint8Array;
  metadata: string;
  snapshot: string | null;
  waits: number;
  head: string | null;
  lineage: number;
}

export interface TimelinePage {
  session_id: string;
  limit: number;
  before?: string | undefined;
  checkpoint_ids?: readonly string[] | undefined;
}

function selectTimeline({ dialect }: Database, page: TimelinePage): Statement {
  const conditions = ["s.id = ?", "c.ns = ''"];
  const params: SqlValue[] = [page.session_id];
  if (page.before !== undefined) {
    conditions.push(
      "c.seq < (select b.seq from checkpoints b where b.thread = t.pk and b.ns = '' and b.checkpoint_id = ?)",
    );
    params.push(page.before);
  }
  if (page.checkpoint_ids) {
    conditions.push(`c.checkpoint_id in (${dialect.eachText})`);
    params.push(JSON.stringify(page.checkpoint_ids));
  }
  const sql = `select c.checkpoint_id, c.parent_id, c.body, c.metadata, c.snapshot, t.head, coalesce(t.lineage, t.pk) as lineage,
      (select count(*) from checkpoint_writes w where w.thread = c.thread and w.ns = '' and w.checkpoint_id = c.checkpoint_id
        and w.channel = '__interrupt__') as waits
    from sessions s join threads t on t.thread_id = s.thread_id join checkpoints c on c.thread = t.pk
    where ${conditions.join(" and ")} order by c.seq desc limit cast(? as bigint)`;
  return { sql: placeholders(dialect, sql), params: [...params, page.limit] };
}

/** The pieces that are read are those of the last messages, however long the conversation is. */
export function* readTimeline(db: Database, page: TimelinePage): Tx<TimelineEntry[]> {
  const [found] = yield [selectTimeline(db, page)];
  const rows = (found?.rows ?? []) as unknown as Row[];
  const [first] = rows;
  if (!first) return [];
  const { lineage } = first;
  const bodies = rows.map(({ body, checkpoint_id }) => parseBody(body, `Checkpoint ${checkpoint_id}`));
  const numbers = yield* listNumbers(
    db,
    lineage,
    bodies.map(({ channels }) => channels[MESSAGES]?.[1]),
  );
  const decoder = new PieceDecoder(db, lineage, `Session ${page.session_id}`);
  const tails = numbers.map((each) => asList(each?.slice(-TAIL) ?? []));
  yield* decoder.fetching(tails);
  const nexts = yield* readNext(db, lineage, bodies);
  return rows.map((row, i) => ({
    ...describe(row, bodies[i] as CheckpointBody),
    next: nexts[i] ?? [],
    message_count: numbers[i]?.length ?? 0,
    last: lastMessages(decoder.decode(structuredClone(tails[i] ?? []))),
  }));
}

function describe(row: Row, { ts }: CheckpointBody) {
  const metadata = parseJson(row.metadata, `The metadata of checkpoint ${row.checkpoint_id}`) as {
    run_id?: string;
    step?: number;
    source?: TimelineEntry["source"];
  };
  return {
    checkpoint_id: row.checkpoint_id,
    parent_id: row.parent_id,
    run_id: metadata.run_id ?? null,
    step: metadata.step ?? 0,
    source: metadata.source ?? "loop",
    created_at: new Date(ts).toISOString(),
    waiting: Number(row.waits) > 0,
    snapshot_id: row.snapshot,
    is_head: row.checkpoint_id === row.head,
  };
}

export function asList(numbers: readonly number[]): JsonValue {
  return { [TAG]: LIST, e: numbers.map((number) => [number, 1]) };
}

/** What follows the last message of a person, from the last word of the model on; or that message. */
function lastMessages(decoded: unknown): TimelineMessage[] {
  const messages = (Array.isArray(decoded) ? decoded : []).flatMap(toTimelineMessage);
  const spoke = messages.findLastIndex(({ role }) => role === "assistant" || role === "user");
  return messages.slice(Math.max(spoke, 0));
}

function toTimelineMessage(message: unknown): TimelineMessage[] {
  const fields = messageFieldsOf(message);
  if (!fields) return [];
  const { role, content, tool_calls, tool_call_id } = fields;
  const failed = (message as { status?: unknown }).status === "error";
  return [{ id: messageIdOf(message) ?? "", role, content, tool_calls, tool_call_id, failed }];
}

/** Nodes that were told to run by an edge, and those that were sent something. */
function* readNext(db: Database, lineage: number, bodies: readonly CheckpointBody[]): Tx<string[][]> {
  const sent = bodies.map(({ channels }) => channels[TASKS]?.[1]);
  const ids = sent.flatMap((value) => (isTagged(value, PIECE) ? (value["p"] as number) : []));
  const pieces = new Map<number, JsonValue>();
  if (ids.length > 0) {
    const [found] = yield [selectPieces(db, lineage, ids)];
    for (const row of found?.rows ?? [])
      pieces.set(row["id"] as number, parseJson(row["value"] as Uint8Array, "Sends"));
  }
  return bodies.map(({ channels }, i) => {
    const value = sent[i];
    const list = isTagged(value, PIECE) ? pieces.get(value["p"] as number) : value;
    return [...new Set([...edges(channels), ...sendsIn(list)])];
  });
}

function edges(channels: CheckpointBody["channels"]): string[] {
  return Object.entries(channels)
    .filter(([name, channel]) => channel.length > 1 && (name === START || name.startsWith(BRANCH)))
    .map(([name]) => (name === START ? START : name.slice(BRANCH.length)));
}

function sendsIn(list: JsonValue | undefined): string[] {
  const entries = isTagged(list, LIST) ? (list["e"] as JsonValue[]) : Array.isArray(list) ? list : [];
  return entries.flatMap((entry) => {
    const value = isObject(entry) && "v" in entry ? (entry["v"] as JsonValue) : entry;
    const node = isObject(value) ? value["node"] : undefined;
    return typeof node === "string" ? [node] : [];
  });
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTagged(value: JsonValue | undefined, tag: string): value is { [key: string]: JsonValue } {
  return isObject(value) && value[TAG] === tag;
}

/** The conversation of one checkpoint's state, as rows have it; what a row knows besides is the row's. */
export function* readMessagesAt(
  db: Database,
  session_id: string,
  checkpoint_id: string,
  ahead?: PieceDecoder,
): Tx<{
  lineage: number;
  messages: (Pick<Message, "id" | "role"> & { fields: ReturnType<typeof messageFieldsOf> })[];
  ts: string;
}> {
  const [found] = yield [selectTimeline(db, { session_id, limit: 1, checkpoint_ids: [checkpoint_id] })];
  const row = (found?.rows ?? [])[0] as unknown as Row | undefined;
  if (!row) throw new AppError("checkpoint_not_found", `Session ${session_id} has no checkpoint ${checkpoint_id}`);
  const { channels, ts } = parseBody(row.body, `Checkpoint ${checkpoint_id}`);
  const list = channels[MESSAGES]?.[1];
  const decoder = ahead ?? new PieceDecoder(db, row.lineage, `Session ${session_id}`);
  if (list !== undefined) yield* decoder.fetching([list]);
  const decoded = list === undefined ? [] : decoder.decode(structuredClone(list));
  const messages = (Array.isArray(decoded) ? decoded : []).flatMap((message, index) => {
    const fields = messageFieldsOf(message);
    return fields ? [{ id: messageIdOf(message) ?? `${checkpoint_id}:${index}`, role: fields.role, fields }] : [];
  });
  return { lineage: row.lineage, messages, ts: new Date(ts).toISOString() };
}
