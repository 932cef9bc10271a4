import type { Answer, Piece } from "./scripted-server.ts";

/** Messages, streamed: https://docs.anthropic.com/en/docs/build-with-claude/streaming */
const event = (data: { type: string } & Record<string, unknown>): Piece => ({
  type: "raw",
  data: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`,
});

function start(input = 10, cacheRead = 0, cacheCreation = 0): Piece {
  const usage = {
    input_tokens: input,
    output_tokens: 1,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheCreation,
  };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-haiku-4-5-20251001",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  return event({ type: "message_start", message });
}

const block = (index: number, content_block: object) => event({ type: "content_block_start", index, content_block });
const delta = (index: number, piece: object) => event({ type: "content_block_delta", index, delta: piece });
const stop = (index: number) => event({ type: "content_block_stop", index });
const textBlock = (index: number, ...words: readonly string[]): Piece[] => [
  block(index, { type: "text", text: "" }),
  ...words.map((text) => delta(index, { type: "text_delta", text })),
  stop(index),
];
const thinkingBlock = (index: number, ...words: readonly string[]): Piece[] => [
  block(index, { type: "thinking", thinking: "", signature: "" }),
  ...words.map((thinking) => delta(index, { type: "thinking_delta", thinking })),
  delta(index, { type: "signature_delta", signature: "c2ln" }),
  stop(index),
];
const toolBlock = (index: number, id: string, name: string, ...pieces: readonly string[]): Piece[] => [
  block(index, { type: "tool_use", id, name, input: {} }),
  ...pieces.map((partial_json) => delta(index, { type: "input_json_delta", partial_json })),
  stop(index),
];
const ping = event({ type: "ping" });
const end = (output: number, reason = "end_turn"): Piece[] => [
  event({
    type: "message_delta",
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: output },
  }),
  event({ type: "message_stop" }),
];
const streamError = (type: string, message: string) => event({ type: "error", error: { type, message } });
const stream = (...pieces: readonly Piece[]): Answer => ({ type: "stream", pieces });

function says(...words: readonly string[]): Answer {
  return stream(start(), ping, ...textBlock(0, ...words), ...end(words.length));
}

function fails(status: number, type: string, message: string, headers: Record<string, string> = {}): Answer {
  return { type: "body", status, headers, body: JSON.stringify({ type: "error", error: { type, message } }) };
}

export const anthropic = {
  stream,
  says,
  fails,
  start,
  ping,
  block,
  delta,
  textBlock,
  thinkingBlock,
  toolBlock,
  end,
  streamError,
};
