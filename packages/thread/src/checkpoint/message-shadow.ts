import { isDerivedField } from "./langchain-class.ts";
import type { Shadow } from "./shadow.ts";

/**
 * Most of what a long list holds are messages, of few kinds. Their members are read by name here, one function for each
 * kind so that the engine meets one shape of object in it: that takes it half as long as going through whatever they have.
 * In a shadow a message takes its kind, its keys (so that a member which came or went is noticed), which of its members
 * were empty objects (as most are: they have no part of their own in the shadow) and its members.
 */
type MessageKind = typeof AI | typeof TOOL | typeof OTHER;
const AI = -3;
const TOOL = -4;
const OTHER = -5;

/** `lc_kwargs`, because what stands only there is stored too; what is not listed the class itself sets again. */
const COMMON = ["lc_kwargs", "id", "name", "content", "additional_kwargs", "response_metadata"] as const;
const OF_AI = [...COMMON, "tool_calls", "invalid_tool_calls", "usage_metadata"] as const;
const OF_TOOL = [...COMMON, "status", "tool_call_id", "metadata", "artifact"] as const;

type Members = Record<(typeof OF_AI | typeof OF_TOOL)[number], unknown>;

const kinds = new WeakMap<readonly string[], MessageKind | null>();

/** Of a message with these keys; null for one that has others than a kind knows. */
export function messageKind(keys: readonly string[]): MessageKind | null {
  let kind = kinds.get(keys);
  if (kind === undefined) {
    kind = ([AI, TOOL, OTHER] as const).find((one) => isOfKind(keys, membersOf(one))) ?? null;
    kinds.set(keys, kind);
  }
  return kind;
}

function isOfKind(keys: readonly string[], members: readonly string[]): boolean {
  const stored = keys.filter((key) => key === "lc_kwargs" || !isDerivedField(key));
  return stored.length === members.length && members.every((key) => stored.includes(key));
}

function membersOf(kind: MessageKind): readonly (keyof Members)[] {
  if (kind === AI) return OF_AI;
  return kind === TOOL ? OF_TOOL : COMMON;
}

export function castMessage(message: object, kind: MessageKind, keys: readonly string[], shadow: Shadow): void {
  const { additional_kwargs, response_metadata } = message as Members;
  const empty =
    (isEmptyObject(additional_kwargs) ? NO_KWARGS : 0) | (isEmptyObject(response_metadata) ? NO_METADATA : 0);
  shadow.push(message, kind, keys, empty);
  for (const key of membersOf(kind)) shadow.push((message as Members)[key]);
}

/** Whether the message's own part of the shadow says all there is to say of the member. */
export function isToldByMessage(key: string, value: unknown): boolean {
  return (key === "additional_kwargs" || key === "response_metadata") && isEmptyObject(value);
}

function isEmptyObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.keys(value).length === 0;
}

/** How many places a message takes after its kind. */
export function messagePlaces(kind: number): number {
  if (kind === AI) return 2 + OF_AI.length;
  return kind === TOOL ? 2 + OF_TOOL.length : 2 + COMMON.length;
}

export function isSameMessage(message: object, kind: number, shadow: Shadow, at: number): boolean {
  if (kind === AI) return isSameAi(message as Members, shadow, at);
  return kind === TOOL ? isSameTool(message as Members, shadow, at) : isSameOther(message as Members, shadow, at);
}

function isSameAi(message: Members, shadow: Shadow, at: number): boolean {
  return (
    hasKeys(message, shadow[at] as readonly string[]) &&
    areEmpty(message, shadow[at + 1] as number) &&
    Object.is(message.lc_kwargs, shadow[at + 2]) &&
    Object.is(message.id, shadow[at + 3]) &&
    Object.is(message.name, shadow[at + 4]) &&
    Object.is(message.content, shadow[at + 5]) &&
    Object.is(message.additional_kwargs, shadow[at + 6]) &&
    Object.is(message.response_metadata, shadow[at + 7]) &&
    Object.is(message.tool_calls, shadow[at + 8]) &&
    Object.is(message.invalid_tool_calls, shadow[at + 9]) &&
    Object.is(message.usage_metadata, shadow[at + 10])
  );
}

function isSameTool(message: Members, shadow: Shadow, at: number): boolean {
  return (
    hasKeys(message, shadow[at] as readonly string[]) &&
    areEmpty(message, shadow[at + 1] as number) &&
    Object.is(message.lc_kwargs, shadow[at + 2]) &&
    Object.is(message.id, shadow[at + 3]) &&
    Object.is(message.name, shadow[at + 4]) &&
    Object.is(message.content, shadow[at + 5]) &&
    Object.is(message.additional_kwargs, shadow[at + 6]) &&
    Object.is(message.response_metadata, shadow[at + 7]) &&
    Object.is(message.status, shadow[at + 8]) &&
    Object.is(message.tool_call_id, shadow[at + 9]) &&
    Object.is(message.metadata, shadow[at + 10]) &&
    Object.is(message.artifact, shadow[at + 11])
  );
}

function isSameOther(message: Members, shadow: Shadow, at: number): boolean {
  return (
    hasKeys(message, shadow[at] as readonly string[]) &&
    areEmpty(message, shadow[at + 1] as number) &&
    Object.is(message.lc_kwargs, shadow[at + 2]) &&
    Object.is(message.id, shadow[at + 3]) &&
    Object.is(message.name, shadow[at + 4]) &&
    Object.is(message.content, shadow[at + 5]) &&
    Object.is(message.additional_kwargs, shadow[at + 6]) &&
    Object.is(message.response_metadata, shadow[at + 7])
  );
}

const NO_KWARGS = 1;
const NO_METADATA = 2;

function areEmpty(message: Members, which: number): boolean {
  if ((which & NO_KWARGS) !== 0) for (const _ in message.additional_kwargs as object) return false;
  if ((which & NO_METADATA) !== 0) for (const _ in message.response_metadata as object) return false;
  return true;
}

function hasKeys(message: object, keys: readonly string[]): boolean {
  let n = 0;
  for (const key in message) if (key !== keys[n++]) return false;
  return n === keys.length;
}
