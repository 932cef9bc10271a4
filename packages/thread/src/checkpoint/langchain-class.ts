import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";

type Fields = Record<string, unknown>;
type LangChainClass = new (fields: never) => object;

/** The classes that agents put into their state. A checkpoint names them; nothing else is ever constructed from one. */
const MESSAGES: Record<string, LangChainClass> = {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
};

const NAMES = new Map<unknown, string>(Object.entries(MESSAGES).map(([name, type]) => [type, name]));

/** Members that every constructor fills with an empty one: not worth their bytes in each message. */
const EMPTY_BY_DEFAULT = new Set(["additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls"]);

/** Members that a constructor makes of what it is given: where they are gone, someone has taken them out. */
const MADE_OF_GIVEN = new Set(["id", "name", "status", "usage_metadata", "artifact", "metadata"]);

/** LangChain's bookkeeping, and what the class itself sets again. */
const DERIVED = new Set(["lc_serializable", "lc_kwargs", "lc_namespace", "lc_direct_tool_output", "type"]);

export function messageName(value: object): string | undefined {
  return NAMES.get(value.constructor);
}

/**
 * The fields as they are now. LangChain's own `toJSON` only knows what the constructor was given, and so loses an id
 * that a reducer assigned later.
 */
export function messageFields(message: object): Fields {
  const fields: Fields = {};
  const given = (message as { lc_kwargs?: Fields }).lc_kwargs ?? {};
  for (const key of Object.keys(given)) if (isOnlyGiven(key, given, message)) fields[key] = given[key];
  for (const [key, value] of Object.entries(message)) {
    if (DERIVED.has(key) || value === undefined) continue;
    if (!(EMPTY_BY_DEFAULT.has(key) && isEmpty(value))) fields[key] = value;
  }
  // The constructor would derive tool calls from a provider's raw ones, also where the state had dropped them.
  if (fields["additional_kwargs"] && "tool_calls" in message) fields["tool_calls"] = message.tool_calls;
  return fields;
}

/** True when the object's own members are all there is to know about it. */
export function isWholeMessage(message: object): boolean {
  const given = (message as { lc_kwargs?: Fields }).lc_kwargs;
  if (given) for (const key in given) if (isOnlyGiven(key, given, message)) return false;
  return true;
}

function isOnlyGiven(key: string, given: Fields, message: object): boolean {
  return !(key in message) && given[key] !== undefined && !MADE_OF_GIVEN.has(key);
}

export function isDerivedField(key: string): boolean {
  return DERIVED.has(key);
}

export function createMessage(name: string, fields: Fields): object | undefined {
  const type = MESSAGES[name];
  if (!type) return undefined;
  const { content } = fields;
  // It may add calls to the very blocks that it is given.
  const message = new type({ ...fields, content: Array.isArray(content) ? [...content] : content } as never) as Fields;
  // The constructor doesn't know a member that someone added later; and from pieces of tool calls, from a provider's raw ones
  // and from blocks of content it makes what was in the state before someone changed it there.
  for (const key in fields) if (message[key] !== fields[key]) message[key] = fields[key];
  for (const key of DERIVED_LISTS) if (!(key in fields) && !isEmpty(message[key] ?? [])) message[key] = [];
  return message;
}

/** What a constructor makes of other members, though the message had none. */
const DERIVED_LISTS = ["tool_calls", "invalid_tool_calls"];

export { DeltaSnapshot, Document };

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
