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
  for (const key of Object.keys(given)) if (!(key in message) && given[key] !== undefined) fields[key] = given[key];
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
  if (given) for (const key in given) if (!(key in message) && given[key] !== undefined) return false;
  return true;
}

export function isDerivedField(key: string): boolean {
  return DERIVED.has(key);
}

export function createMessage(name: string, fields: Fields): object | undefined {
  const type = MESSAGES[name];
  if (!type) return undefined;
  const message = new type(fields as never) as Fields;
  // What the constructor doesn't know (a member that someone added later) is put back as well.
  for (const key in fields) if (!(key in message)) message[key] = fields[key];
  return message;
}

export { DeltaSnapshot, Document };

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
