import type { ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import type { JsonValue } from "./json-value.ts";
import type { PieceEncoder } from "./piece-encoder.ts";

type Version = string | number;

/** A channel's version and its encoded value, if the checkpoint has one. `null` stands for no version. */
type Channel = [version: Version | null, value?: JsonValue];
export type Channels = Record<string, Channel>;

/** What a checkpoint's row holds beside its keys: short, because all that is long is in pieces. */
export interface CheckpointBody {
  v: number;
  ts: string;
  channels: Channels;
  seen: Record<string, Record<string, Version>>;
}

interface BodyInput {
  checkpoint: Checkpoint;
  newVersions: ChannelVersions;
  parent: Channels | undefined | "gone";
  /**
   * A copy of a checkpoint (`updateState` as `__copy__`) names nothing as changed, though it comes after the parent of
   * the one that it copies, or after none: what its parent does not have in that version is in the copy alone.
   */
  isFork: boolean;
  /**
   * `updateState` applies what finished tasks of the step have written without naming it as changed: emptied sends would
   * come back, and those tasks be done again, while what they wrote to other channels would be lost.
   */
  isUpdate: boolean;
  encoder: PieceEncoder;
  ns: string;
  where: string;
}

/**
 * Encodes what changed; what did not is taken over from the parent, by version. From a parent that is gone nothing can
 * be taken over: then all is encoded.
 */
export function encodeBody(input: BodyInput): CheckpointBody {
  const { checkpoint, encoder, ns, where } = input;
  const { v, ts, channel_values, channel_versions, versions_seen } = checkpoint;
  const { channels, changed } = takeOver(input);
  for (const name of inOrder(changed)) {
    const version = channel_versions[name] ?? null;
    const to = { where: `${where}, channel ${name}`, ns, channel: name, settled: true };
    channels[name] = name in channel_values ? [version, encoder.encodeChannel(channel_values[name], to)] : [version];
  }
  return { v, ts, channels, seen: versions_seen };
}

function takeOver(input: BodyInput): { channels: Channels; changed: string[] } {
  const { checkpoint, newVersions, parent, isFork, isUpdate } = input;
  const { channel_values, channel_versions } = checkpoint;
  const changed = new Set(Object.keys(isUpdate ? channel_values : newVersions));
  const known = parent === "gone" || !parent ? {} : parent;
  const hasAll = parent === "gone" || isFork;
  const channels: Channels = {};
  for (const name of unversioned(known, channel_values)) channels[name] = known[name] as Channel;
  for (const [name, version] of Object.entries(channel_versions)) {
    if (changed.has(name)) continue;
    const before = known[name];
    if (before?.[0] === version) channels[name] = before;
    else if (hasAll) changed.add(name);
    else channels[name] = [version];
  }
  return { channels, changed: [...changed] };
}

/** An update's value of a channel that had none before: LangGraph gives it no version until something writes to it again. */
function unversioned(known: Channels, values: Checkpoint["channel_values"]): string[] {
  return Object.keys(known).filter((name) => known[name]?.[0] === null && name in values);
}

/** Sends name what the other channels have stored, so they come last. */
function inOrder(names: string[]): string[] {
  return names.sort((a, b) => Number(a === TASKS) - Number(b === TASKS));
}

const TASKS = "__pregel_tasks";

export function bodyJson(body: CheckpointBody): JsonValue {
  return [body.v, body.ts, body.channels as unknown as JsonValue, body.seen];
}

export function bodyFromJson(json: JsonValue): CheckpointBody {
  const [v, ts, channels, seen] = json as [number, string, Channels, CheckpointBody["seen"]];
  return { v, ts, channels, seen };
}

/** The checkpoint as LangGraph knows it. */
export function toCheckpoint(id: string, body: CheckpointBody, decode: (value: JsonValue) => unknown): Checkpoint {
  const channel_values: Record<string, unknown> = {};
  const channel_versions: ChannelVersions = {};
  for (const [name, [version, value]] of Object.entries(body.channels)) {
    if (version !== null) channel_versions[name] = version;
    if (value !== undefined) channel_values[name] = decode(structuredClone(value));
  }
  return { v: body.v, id, ts: body.ts, channel_values, channel_versions, versions_seen: structuredClone(body.seen) };
}
