import type { ServerResponse } from "node:http";
import { type StreamOptions, type TextSource, writeToSocket } from "./socket-stream.ts";
import { HEARTBEAT, SSE_HEADERS } from "./sse.ts";

export interface EventStream {
  readonly source: TextSource;
  writeTo(outgoing: ServerResponse): void;
}

const streams = new WeakMap<Response, EventStream>();

/** How a response that is an event stream writes itself to a socket; undefined for any other response. */
export function streamOf(response: Response): EventStream | undefined {
  return streams.get(response);
}

/** A response that begins to read its source when somebody begins to read the response. */
export function streamResponse(
  source: TextSource,
  options: StreamOptions,
  headers: Record<string, string> = {},
): Response {
  const response = new Response(webStream(source, options), { headers: { ...SSE_HEADERS, ...headers } });
  streams.set(response, { source, writeTo: (outgoing) => writeToSocket(source, outgoing, options) });
  return response;
}

/** For readers without a socket: tests, and whoever wraps the response. Pulled, so nothing gathers here. */
function webStream(source: TextSource, { heartbeat_ms }: StreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const beat = setInterval(() => controller.enqueue(encoder.encode(HEARTBEAT)), heartbeat_ms);
        try {
          const step = await source.next();
          if (step.done) controller.close();
          else controller.enqueue(encoder.encode(step.value));
        } finally {
          clearInterval(beat);
        }
      },
      cancel: async () => {
        await source.return();
      },
    },
    { highWaterMark: 0 },
  );
}
