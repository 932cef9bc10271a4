import type { CheckpointPendingWrite, DeltaChannelHistory } from "@langchain/langgraph-checkpoint";
import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import { parseBody } from "./checkpoint-body.ts";
import type { Place } from "./checkpoint-place.ts";
import type { JsonValue } from "./json-value.ts";
import { PieceDecoder } from "./piece-decoder.ts";
import { parseJson } from "./serializer.ts";
import { AS_APPLIED } from "./write-statements.ts";

interface Ancestor {
  lineage: number;
  checkpoint_id: string;
  body: Uint8Array;
}

interface WriteRow {
  checkpoint_id: string;
  task_id: string;
  channel: string;
  value: Uint8Array;
}

/** The checkpoint, then so many of its ancestors, nearest first. */
const CHAIN = `with recursive chain (thread, lineage, ns, checkpoint_id, parent_id, body, depth) as (
    select c.thread, coalesce(t.lineage, t.pk), c.ns, c.checkpoint_id, c.parent_id, c.body, 0
    from threads t join checkpoints c on c.thread = t.pk
    where t.thread_id = ? and t.deleted_at is null and c.ns = ? and c.checkpoint_id = coalesce(cast(? as text),
      (select n.checkpoint_id from checkpoints n where n.thread = t.pk and n.ns = ? order by n.seq desc limit 1))
    union all
    select p.thread, chain.lineage, p.ns, p.checkpoint_id, p.parent_id, p.body, chain.depth + 1
    from chain join checkpoints p on p.thread = chain.thread and p.ns = chain.ns and p.checkpoint_id = chain.parent_id
    where chain.depth < ?
  )`;

/** Ancestors that the first look takes in; each further one takes in twice as many. */
const NEAR = 64;

/**
 * What delta channels need to be rebuilt: a walk up the ancestry as far as one that holds them whole. One round trip where
 * that is near, few where it isn't; what came before it is not read.
 */
export async function deltaChannelHistory(
  db: Database,
  place: Place,
  channels: string[],
): Promise<Record<string, DeltaChannelHistory>> {
  const where = `Thread ${place.thread_id}`;
  const found = new Map(channels.map((channel): [string, Found] => [channel, { writes: [] }]));
  let at = place;
  let lineage: number | undefined;
  for (let count = NEAR; ; count *= 2) {
    const missing = channels.filter((channel) => found.get(channel)?.seed === undefined);
    if (missing.length === 0) break;
    const { ancestors, writes } = await readUp(db, at, { count, channels: missing });
    lineage ??= ancestors[0]?.lineage;
    for (const channel of missing) addTo(found.get(channel) as Found, { ancestors, writes, channel, where });
    const last = ancestors.at(-1);
    if (!last || ancestors.length < count) break;
    at = { ...place, checkpoint_id: last.checkpoint_id };
  }
  return decodeAll(found, lineage === undefined ? undefined : new PieceDecoder(db, lineage, where));
}

interface Found {
  /** Oldest first. */
  writes: { task_id: string; json: JsonValue }[];
  seed?: JsonValue;
}

interface Portion {
  ancestors: Ancestor[];
  writes: WriteRow[];
}

async function readUp(
  db: Database,
  { thread_id, ns, checkpoint_id }: Place,
  { count, channels }: { count: number; channels: string[] },
): Promise<Portion> {
  const chain = [thread_id, ns, checkpoint_id ?? null, ns, count];
  const [ancestors, writes] = await db.readAll([
    {
      sql: placeholders(
        db.dialect,
        `${CHAIN} select lineage, checkpoint_id, body from chain where depth > 0 order by depth`,
      ),
      params: chain,
    },
    {
      sql: placeholders(
        db.dialect,
        `${CHAIN} select w.checkpoint_id, w.task_id, w.channel, w.value from chain
         join checkpoint_writes w on w.thread = chain.thread and w.ns = chain.ns and w.checkpoint_id = chain.checkpoint_id
         where chain.depth > 0 and w.channel in (${db.dialect.eachText}) order by chain.depth desc, ${AS_APPLIED}`,
      ),
      params: [...chain, JSON.stringify(channels)],
    },
  ]);
  return {
    ancestors: (ancestors?.rows ?? []) as unknown as Ancestor[],
    writes: (writes?.rows ?? []) as unknown as WriteRow[],
  };
}

function addTo(
  found: Found,
  { ancestors, writes, channel, where }: Portion & { channel: string; where: string },
): void {
  const reached = new Set<string>();
  for (const { checkpoint_id, body } of ancestors) {
    reached.add(checkpoint_id);
    const seed = parseBody(body, where).channels[channel]?.[1];
    if (seed === undefined) continue;
    found.seed = seed;
    break;
  }
  const mine = writes.filter((write) => write.channel === channel && reached.has(write.checkpoint_id));
  found.writes.unshift(...mine.map(({ task_id, value }) => ({ task_id, json: parseJson(value, where) })));
}

async function decodeAll(
  found: ReadonlyMap<string, Found>,
  decoder: PieceDecoder | undefined,
): Promise<Record<string, DeltaChannelHistory>> {
  const all = [...found];
  await decoder?.fetch(
    all.flatMap(([, { seed, writes }]) => [...(seed === undefined ? [] : [seed]), ...writes.map(({ json }) => json)]),
  );
  return Object.fromEntries(
    all.map(([channel, { seed, writes }]) => {
      const history: DeltaChannelHistory = {
        writes: writes.map(({ task_id, json }): CheckpointPendingWrite => [task_id, channel, decoder?.decode(json)]),
      };
      if (seed !== undefined) history.seed = decoder?.decode(seed);
      return [channel, history];
    }),
  );
}
