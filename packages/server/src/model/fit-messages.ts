import { createHash } from "node:crypto";
import type { ContentBlock } from "@cognition/contract";
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { ProviderDefinition } from "./provider-definition.ts";
import { originOf } from "./usage.ts";

/** A block in a form that the provider takes at this place; undefined where it takes nothing of the kind. */
export type FitBlock = (block: ContentBlock, place: "message" | "result") => ContentBlock | undefined;

/** What every provider takes as the id (Mistral nothing else) and as the name of a call; they differ only in how much more they take. */
const CALL_ID = /^[A-Za-z0-9]{9}$/;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;
const MAX_NAME_LENGTH = 64;

/**
 * The conversation as the provider takes it that is called now. Others may have answered before it, and pictures and files come in many
 * forms: sent as they are, the request would be refused, and every later one of the thread with it.
 */
export function fitMessages(
  messages: readonly BaseMessage[],
  provider: Pick<ProviderDefinition, "id" | "provider">,
  fit: FitBlock = (block) => block,
): BaseMessage[] {
  const ids = new CallIds();
  return messages.flatMap((message): BaseMessage[] => {
    if (AIMessage.isInstance(message))
      return isOwn(message, provider) ? withoutBlanks(ids.keep(message)) : inPlainWords(message, ids);
    if (ToolMessage.isInstance(message)) return [fitResult(message, ids, fit)];
    return [HumanMessage.isInstance(message) || SystemMessage.isInstance(message) ? fitSaid(message, fit) : message];
  });
}

/** By what ids the calls of one conversation are known to the provider. Results stand after their call: the id that it was given last is theirs. */
class CallIds {
  readonly #given = new Map<string, string>();
  readonly #taken = new Set<string>();

  get(id: string): string {
    return this.#given.get(id) ?? id;
  }

  keep(message: AIMessage): AIMessage {
    for (const { id } of message.tool_calls ?? []) if (id !== undefined) this.#give(id, id);
    return message;
  }

  fit(id: string): string {
    let fitted = CALL_ID.test(id) ? id : digest(id);
    for (let n = 1; this.#taken.has(fitted); n++) fitted = digest(`${id} ${n}`);
    return this.#give(id, fitted);
  }

  #give(id: string, fitted: string): string {
    this.#given.set(id, fitted);
    this.#taken.add(fitted);
    return fitted;
  }
}

function isOwn(message: BaseMessage, { id, provider }: Pick<ProviderDefinition, "id" | "provider">): boolean {
  const origin = originOf(message);
  return origin?.provider_id === id && origin.provider === provider;
}

/** As it was given, but for texts of nothing but blanks, which Anthropic gives and refuses to be sent back. */
function withoutBlanks(message: AIMessage): AIMessage[] {
  const content = typeof message.content === "string" ? message.content.trim() && message.content : message.content;
  const said = typeof content === "string" ? content : content.filter((block) => !isBlankText(block));
  const { tool_calls = [], name, id, additional_kwargs, response_metadata, usage_metadata } = message;
  if (said.length === 0 && tool_calls.length === 0) return [];
  if (said.length === message.content.length) return [message];
  const fields = { content: said, tool_calls, additional_kwargs, response_metadata, ...named({ name, id }) };
  return [new AIMessage({ ...fields, ...(usage_metadata !== undefined && { usage_metadata }) })];
}

function isBlankText({ type, text }: { type?: unknown; text?: unknown }): boolean {
  return type === "text" && typeof text === "string" && text.trim() === "";
}

/** What another provider's answer says and calls. Its thoughts, signatures and ids mean something to that one only. */
function inPlainWords(message: AIMessage, ids: CallIds): AIMessage[] {
  const { name } = message;
  const content = message.text.trim() === "" ? "" : message.text;
  const tool_calls = (message.tool_calls ?? []).map((call) => fitCall(call, ids));
  if (content === "" && tool_calls.length === 0) return [];
  return [new AIMessage({ content, tool_calls, ...named({ name }) })];
}

function fitCall({ id, name, args }: ToolCall, ids: CallIds): ToolCall {
  const fitted = fitName(name);
  if (id === undefined) return { type: "tool_call", name: fitted, args };
  return { type: "tool_call", id: ids.fit(id), name: fitted, args };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 9);
}

function fitName(name: string): string {
  return name.replace(NOT_IN_NAMES, "_").slice(0, MAX_NAME_LENGTH) || "unknown_tool";
}

function fitResult(message: ToolMessage, ids: CallIds, fit: FitBlock): ToolMessage {
  const tool_call_id = ids.get(message.tool_call_id);
  const content = fitContent(message, "result", fit);
  if (content === message.content && tool_call_id === message.tool_call_id) return message;
  const { name, status, id } = message;
  return new ToolMessage({ tool_call_id, content, ...named({ name, id }), ...(status !== undefined && { status }) });
}

function fitSaid(message: BaseMessage, fit: FitBlock): BaseMessage {
  const content = fitContent(message, "message", fit);
  if (content === message.content) return message;
  const { name, id, additional_kwargs } = message;
  const fields = { content, additional_kwargs, ...named({ name, id }) };
  return SystemMessage.isInstance(message) ? new SystemMessage(fields) : new HumanMessage(fields);
}

function fitContent<T extends BaseMessage>(message: T, place: "message" | "result", fit: FitBlock): T["content"] {
  if (typeof message.content === "string") return place === "message" ? inSomeWord(message.content) : message.content;
  const blocks = message.content as ContentBlock[];
  const fitted = blocks.map((block) => fit(block, place) ?? { type: "text", text: inWords(block, place) });
  return fitted.every((block, at) => block === blocks[at]) ? message.content : fitted;
}

function named({ name, id }: { name?: string | undefined; id?: string | undefined }): { name?: string; id?: string } {
  return { ...(name !== undefined && { name }), ...(id !== undefined && { id }) };
}

/** Not an empty one, which some providers refuse. */
export function isTextBlock({ type, text }: ContentBlock): boolean {
  return type === "text" && typeof text === "string" && text.trim() !== "";
}

const GIVEN = { message: "A", result: "The tool gave a" };
const HERE = { message: "stood here", result: "here" };

function inSomeWord(text: string): string {
  return text.trim() === "" ? "(empty)" : text;
}

function inWords(block: ContentBlock, place: "message" | "result"): string {
  if (block.type === "text") return inSomeWord(String(block["text"] ?? ""));
  const kind = typeof block["mimeType"] === "string" ? ` of ${block["mimeType"]}` : "";
  return `[${GIVEN[place]} block of the type ${block.type}${kind} ${HERE[place]}, which is damaged, or which this model's provider does not take.]`;
}
