import { AsyncLocalStorage } from "node:async_hooks";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { patientFetch } from "../outgoing/patient-fetch.ts";

/** What has come by then has been read. */
const READ_MS = 100;

const asking = new AsyncLocalStorage<() => void>();

/** The stream that a call's answer should have been in is over. */
export class BrokenOff extends McpError {
  constructor() {
    super(ErrorCode.ConnectionClosed, "the stream ended without an answer");
  }
}

/** How the SDK is told to go on waiting, or not to. */
interface AnswerWatch {
  readonly signal: AbortSignal;
  /** The server lets the stream be taken up again, which the SDK does by itself. */
  readonly onresumptiontoken: () => void;
}

/**
 * Asks once over HTTP. Of a stream that ends or is cut off without an answer the SDK says nothing: the call would wait for
 * its timeout. Here it fails with `BrokenOff`.
 */
export async function untilAnswerEnds<T>(ask: (watch: AnswerWatch) => Promise<T>): Promise<T> {
  const ended = new AbortController();
  let watching = true;
  const unwatch = () => {
    watching = false;
  };
  const onEnd = () => {
    setTimeout(() => watching && ended.abort(new BrokenOff()), READ_MS);
  };
  try {
    return await asking.run(onEnd, () => ask({ signal: ended.signal, onresumptiontoken: unwatch }));
  } finally {
    unwatch();
  }
}

export const watchedFetch: FetchLike = async (url, init) => {
  // The stream that notices come in may be silent for ever, and is opened anew from time to time.
  if (init?.method !== "POST") return fetch(url, init);
  const response = await patientFetch(url, init);
  const onEnd = asking.getStore();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!onEnd || !response.body || !isStream) return response;
  return new Response(ReadableStream.from(telling(response.body, onEnd)), response);
};

async function* telling(body: ReadableStream<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    onEnd();
  }
}
