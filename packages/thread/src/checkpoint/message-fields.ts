import type { Message, ToolCall } from "@cognition/contract";
import { readStopReason } from "../stop-reason.ts";
import { messageName } from "./langchain-class.ts";

/** What a message of the state says, as the columns of its row. */
export interface MessageFields {
  role: Message["role"];
  content: string;
  tool_calls: string;
  tool_call_id: string | null;
  token_count: number | null;
  model_used: string | null;
  metadata: string;
}

type Members = Record<string, unknown>;

const ROLES: Record<string, Message["role"]> = {
  human: "user",
  user: "user",
  ai: "assistant",
  assistant: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
};

/**
 * Undefined for what is no message: a graph may keep anything in a channel called "messages", and what is written to it
 * may be the order to remove one.
 */
export function messageFieldsOf(value: unknown): MessageFields | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const message = value as Members;
  const kind = messageName(value) ? message["type"] : message["role"];
  if (kind === "remove") return undefined;
  const role = ROLES[kind as string] ?? (messageName(value) && message["content"] !== undefined ? "user" : undefined);
  if (!role || message["content"] === undefined) return undefined;
  return {
    role,
    content: shown(message["content"]),
    tool_calls: shown(toolCallsOf(message)),
    tool_call_id: textOrNull(message["tool_call_id"]),
    token_count: numberOrNull((message["usage_metadata"] as Members | undefined)?.["output_tokens"]),
    model_used: modelOf(message),
    metadata: role === "assistant" ? metadataOf(message) : "{}",
  };
}

/** The row is only for showing: what the checkpoint keeps and JSON has no form for must not keep it from being stored. */
function shown(value: unknown): string {
  return JSON.stringify(value ?? null, (_, member) => (typeof member === "bigint" ? String(member) : member));
}

export function messageIdOf(value: unknown): string | undefined {
  const id = (value as Members | null)?.["id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

function toolCallsOf({ tool_calls }: Members): ToolCall[] {
  if (!Array.isArray(tool_calls)) return [];
  return tool_calls.map(({ id, name, args }) => ({ id: String(id ?? ""), name: String(name ?? ""), args: args ?? {} }));
}

/** Providers disagree on the name of the member that says which model answered. */
function modelOf({ response_metadata }: Members): string | null {
  const said = (response_metadata ?? {}) as Members;
  return textOrNull(said["model_name"] ?? said["model"] ?? said["model_id"]);
}

/** Providers disagree on where they say why they ended, too. First what a server of ours has found out. */
function metadataOf({ response_metadata, additional_kwargs }: Members): string {
  const said = (response_metadata ?? {}) as Members;
  const of = (holder: unknown, name: string) => (holder as Members | null | undefined)?.[name];
  const words = [
    ...[of(said["cognition"], "stop_reason"), said["finish_reason"], said["finishReason"], said["stop_reason"]],
    ...[said["stopReason"], of(said["incomplete_details"], "reason"), of(additional_kwargs, "stop_reason")],
  ];
  const stop_reason = words.map(readStopReason).find((reason) => reason !== undefined);
  return stop_reason === undefined ? "{}" : JSON.stringify({ stop_reason });
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}
