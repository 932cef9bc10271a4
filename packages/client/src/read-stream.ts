import { createSseParser, type SseFrame } from "./sse-parser.ts";

export interface ReadStreamOptions {
  /** A server sends something, if only a comment, every few seconds: longer silence means that the connection is dead. */
  readonly idleMs: number;
  readonly onRetry: (ms: number) => void;
  /** Called when the server has said that it is there, and nothing else. */
  readonly onHeartbeat: () => void;
}

/** The frames of a response until it ends. A cut connection is an end too: whoever reads knows what was to come. */
export async function* readStream(
  response: Response,
  { idleMs, onRetry, onHeartbeat }: ReadStreamOptions,
): AsyncGenerator<SseFrame> {
  const parser = createSseParser();
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const chunk = await readWithin(reader, idleMs);
      if (!chunk) return;
      const { comments } = parser;
      const frames = parser.push(chunk);
      if (parser.comments > comments) onHeartbeat();
      if (parser.retry !== undefined) onRetry(parser.retry);
      yield* frames;
    }
  } finally {
    // Also where the caller stops reading: the connection must not stay open behind its back.
    reader.cancel().catch(() => {}); // it may have failed already, which is why we are here
  }
}

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  idleMs: number,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), idleMs);
  });
  try {
    return await Promise.race([
      reader.read().then(
        ({ value }) => value,
        () => undefined,
      ),
      silence,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
