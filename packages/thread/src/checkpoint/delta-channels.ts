import type { CheckpointBody } from "./checkpoint-body.ts";

/** LangGraph's own note, in the metadata, of how long it is since each delta channel was stored whole. */
export const DELTA_NOTE = "counters_since_delta_snapshot";

/** The channels whose value is in the writes of ancestors, as the checkpoints of a thread tell. */
export function deltaChannels(metadata: Iterable<string>): Set<string> {
  const names = new Set<string>();
  for (const text of metadata) {
    if (!text.includes(DELTA_NOTE)) continue;
    const { [DELTA_NOTE]: counters } = JSON.parse(text) as { [DELTA_NOTE]?: object };
    for (const name of Object.keys(counters ?? {})) names.add(name);
  }
  return names;
}

/** A delta channel without a value, and the sends of checkpoints before format 4, are in the writes of the parent. */
export function leansOnParent({ v, channels }: CheckpointBody, deltas: ReadonlySet<string>): boolean {
  if (v < 4) return true;
  for (const name of deltas) {
    const channel = channels[name];
    if (channel && channel[0] !== null && channel[1] === undefined) return true;
  }
  return false;
}
