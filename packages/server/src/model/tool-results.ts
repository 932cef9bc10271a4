import type { ContentBlock } from "@cognition/contract";
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";

/** Whether a provider takes such a block as a part of a tool's result. */
export type TakesBlock = (block: ContentBlock) => boolean;

/**
 * The conversation as its provider takes it: what a tool gave and this one can't read (an image, a sound, a file of some kind)
 * is named in words. Sent as it is, the request would be refused, and every later one of the thread with it.
 */
export function fitToolResults(messages: readonly BaseMessage[], takes: TakesBlock): BaseMessage[] {
  return messages.map((message) => (ToolMessage.isInstance(message) ? fitResult(message, takes) : message));
}

function fitResult(message: ToolMessage, takes: TakesBlock): ToolMessage {
  if (typeof message.content === "string") return message;
  const blocks = message.content as ContentBlock[];
  if (blocks.every(takes)) return message;
  const { tool_call_id, name, status, id } = message;
  return new ToolMessage({
    tool_call_id,
    content: blocks.map((block) => (takes(block) ? block : { type: "text", text: inWords(block) })),
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(id !== undefined && { id }),
  });
}

/** Not an empty one, which some providers refuse. */
export function isTextBlock({ type, text }: ContentBlock): boolean {
  return type === "text" && typeof text === "string" && text !== "";
}

function inWords(block: ContentBlock): string {
  if (block.type === "text") return String(block["text"]) || "(empty)";
  const kind = typeof block["mimeType"] === "string" ? ` of ${block["mimeType"]}` : "";
  return `[The tool gave a block of the type ${block.type}${kind} here, which this model's provider does not take.]`;
}
