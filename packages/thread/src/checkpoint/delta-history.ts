import type { CheckpointPendingWrite, DeltaChannelHistory } from "@langchain/langgraph-checkpoint";
import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import { type Channels, parseBody } from "./checkpoint-body.ts";
import type { Place } from "./checkpoint-place.ts";
import type { JsonValue } from "./json-value.ts";
import { PieceDecoder } from "./piece-decoder.ts";
import { parseJson } from "./serializer.ts";

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

/** The checkpoint, then its ancestors, nearest first. */
const CHAIN = `with recursive chain (thread, lineage, ns, checkpoint_id, parent_id, body, depth) as (
    select c.thread, coalesce(t.lineage, t.pk), c.ns, c.checkpoint_id, c.parent_id, c.body, 0
    from threads t join checkpoints c on c.thread = t.pk
    where t.thread_id = ? and c.ns = ? and c.checkpoint_id = coalesce(cast(? as text),
      (select n.checkpoint_id from checkpoints n where n.thread = t.pk and n.ns = ? order by n.seq desc limit 1))
    union all
    select p.thread, chain.lineage, p.ns, p.checkpoint_id, p.parent_id, p.body, chain.depth + 1
    from chain join checkpoints p on p.thread = chain.thread and p.ns = chain.ns and p.checkpoint_id = chain.parent_id
  )`;

/** What delta channels need to be rebuilt: one walk up the ancestry, whatever its length, in one round trip. */
export async function deltaChannelHistory(
  db: Database,
  { thread_id, ns, checkpoint_id }: Place,
  channels: string[],
): Promise<Record<string, DeltaChannelHistory>> {
  if (channels.length === 0) return {};
  const chain = [thread_id, ns, checkpoint_id ?? null, ns];
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
         where chain.depth > 0 and w.channel in (${db.dialect.eachText}) order by chain.depth desc, w.task_id, w.idx`,
      ),
      params: [...chain, JSON.stringify(channels)],
    },
  ]);
  const rows = (ancestors?.rows ?? []) as unknown as Ancestor[];
  const lineage = rows[0]?.lineage;
  if (lineage === undefined) return Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]));
  return assemble(db, { thread_id, lineage, channels, rows, writes: (writes?.rows ?? []) as unknown as WriteRow[] });
}

interface Found {
  thread_id: string;
  lineage: number;
  channels: string[];
  rows: Ancestor[];
  writes: WriteRow[];
}

async function assemble(
  db: Database,
  { thread_id, lineage, channels, rows, writes }: Found,
): Promise<Record<string, DeltaChannelHistory>> {
  const bodies = rows.map(({ checkpoint_id, body }) => ({
    checkpoint_id,
    ...parseBody(body, `Thread ${thread_id}`),
  }));
  const parsed = writes.map((write) => ({ ...write, json: parseJson(write.value, `Thread ${thread_id}`) }));
  const seeds = new Map<string, JsonValue>();
  const within = new Map<string, Set<string>>();
  for (const channel of channels) {
    const end = bodies.findIndex(({ channels: held }) => storedValue(held, channel) !== undefined);
    const reached = end === -1 ? bodies : bodies.slice(0, end + 1);
    within.set(channel, new Set(reached.map(({ checkpoint_id }) => checkpoint_id)));
    const seed = end === -1 ? undefined : storedValue(bodies[end]?.channels ?? {}, channel);
    if (seed !== undefined) seeds.set(channel, seed);
  }
  const decoder = new PieceDecoder(db, lineage, `Thread ${thread_id}`);
  await decoder.fetch([...seeds.values(), ...parsed.map(({ json }) => json)]);
  return Object.fromEntries(
    channels.map((channel) => {
      const mine = parsed.filter((w) => w.channel === channel && within.get(channel)?.has(w.checkpoint_id));
      const history: DeltaChannelHistory = {
        writes: mine.map(({ task_id, json }): CheckpointPendingWrite => [task_id, channel, decoder.decode(json)]),
      };
      const seed = seeds.get(channel);
      if (seed !== undefined) history.seed = decoder.decode(seed);
      return [channel, history];
    }),
  );
}

function storedValue(channels: Channels, name: string): JsonValue | undefined {
  return channels[name]?.[1];
}
