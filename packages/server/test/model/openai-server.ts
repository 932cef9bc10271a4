import type { Answer, Piece } from "./scripted-server.ts";

/** Chat Completions, streamed: https://platform.openai.com/docs/api-reference/chat-streaming */
const frame = (data: unknown): Piece => ({ type: "raw", data: `data: ${JSON.stringify(data)}\n\n` });

function chunk(delta: object, finish_reason: string | null = null): Piece {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
  return frame({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "gpt-5.4-2026-03-05",
    choices,
    usage: null,
  });
}

const start = chunk({ role: "assistant", content: "" });
const text = (content: string) => chunk({ content });
const reasoning = (reasoning_content: string) => chunk({ reasoning_content });
const toolStart = (index: number, id: string, name: string) =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
const toolArgs = (index: number, piece: string) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
const finish = (reason: string) => chunk({}, reason);
const done: Piece = { type: "raw", data: "data: [DONE]\n\n" };

function usage(prompt: number, completion: number, cached = 0, thought = 0): Piece {
  return frame({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "gpt-5.4-2026-03-05",
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: thought, audio_tokens: 0 },
    },
  });
}

const stream = (...pieces: readonly Piece[]): Answer => ({ type: "stream", pieces });

function says(...words: readonly string[]): Answer {
  return stream(start, ...words.map(text), finish("stop"), usage(10, words.length), done);
}

function fails(status: number, message: string, code: string, headers: Record<string, string> = {}): Answer {
  return { type: "body", status, headers, body: JSON.stringify({ error: { message, type: code, param: null, code } }) };
}

export const openai = { stream, says, fails, chunk, start, text, reasoning, toolStart, toolArgs, finish, usage, done };
