import { AppError } from "@cognition/contract";
import type { ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import type { JsonValue } from "./json-value.ts";
import type { PieceEncoder } from "./piece-encoder.ts";
import { parseJson } from "./serializer.ts";

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
  parent: Channels | undefined | "unusable";
  encoder: PieceEncoder;
  ns: string;
  where: string;
}

/**
 * Encodes what changed; what did not is taken over from the parent, by version. From a parent that is gone, or that
 * may differ in the same versions, nothing can be taken over: then all is encoded.
 */
export function encodeBody({ checkpoint, newVersions, parent, encoder, ns, where }: BodyInput): CheckpointBody {
  const { v, ts, channel_values, channel_versions, versions_seen } = checkpoint;
  const encodesAll = parent === "unusable";
  const channels = encodesAll ? {} : takeOver(checkpoint, newVersions, parent ?? {});
  const changed = new Set([...Object.keys(newVersions), ...(encodesAll ? namesOf(checkpoint) : [])]);
  for (const name of inOrder([...changed])) {
    const version = channel_versions[name] ?? null;
    const to = { where: `${where}, channel ${name}`, ns, channel: name, settled: true };
    channels[name] = name in channel_values ? [version, encoder.encodeChannel(channel_values[name], to)] : [version];
  }
  return { v, ts, channels, seen: versions_seen };
}

function takeOver(checkpoint: Checkpoint, newVersions: ChannelVersions, parent: Channels): Channels {
  const channels: Channels = {};
  for (const name of namesOf(checkpoint)) {
    if (Object.hasOwn(newVersions, name)) continue;
    const version = checkpoint.channel_versions[name] ?? null;
    const before = parent[name];
    if (before?.[0] === version) channels[name] = before;
    else if (version !== null) channels[name] = [version];
  }
  return channels;
}

/** A channel that got its first value from a pending write, when an update applied that, has no version. */
function namesOf({ channel_versions, channel_values }: Checkpoint): string[] {
  return Object.keys({ ...channel_values, ...channel_versions });
}

/** Sends name what the other channels have stored, so they come last. */
function inOrder(names: string[]): string[] {
  return names.sort((a, b) => Number(a === TASKS) - Number(b === TASKS));
}

const TASKS = "__pregel_tasks";

export function bodyJson(body: CheckpointBody): JsonValue {
  return [body.v, body.ts, body.channels as unknown as JsonValue, body.seen];
}

/** As `bodyJson` gave it, and nothing else: what is damaged is told as such, with `where`. */
export function parseBody(stored: Uint8Array | string, where: string): CheckpointBody {
  const json = parseJson(stored, where);
  if (!Array.isArray(json) || !isMap(json[2]) || !Object.values(json[2]).every(Array.isArray) || !isMap(json[3]))
    throw new AppError("corrupt_data", `${where} is not readable: it does not hold what a checkpoint does`);
  const [v, ts, channels, seen] = json as unknown as [number, string, Channels, CheckpointBody["seen"]];
  return { v, ts, channels, seen };
}

function isMap(json: JsonValue | undefined): json is { [key: string]: JsonValue } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
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
