import type { Hono } from "hono";
import { type AppEnv, type AppOptions, createApp } from "./app.ts";
import type { ClientAddress } from "./client-address.ts";
import { STALL_MS } from "./deliver.ts";
import type { Authenticate, Guard } from "./guard.ts";
import { createHandlers, type HandlerParts } from "./handlers.ts";
import { createIdempotency } from "./idempotency.ts";
import { createPage, type LoadPage } from "./page.ts";
import type { Scoping } from "./scope.ts";
import { createStreams, type Streams } from "./streams.ts";

export interface NodeAppOptions {
  /** What only the application itself can give is left out. */
  readonly parts: Omit<HandlerParts, "streams" | "idempotency" | "wait_ms">;
  readonly scoping: Scoping;
  readonly authenticate: Authenticate;
  readonly recheck_ms: number;
  readonly guards: readonly Guard[];
  readonly page: LoadPage | undefined;
  readonly clientAddress: ClientAddress;
  readonly sse: { readonly retry_interval: number; readonly heartbeat_interval: number };
  readonly max_body_bytes: number;
  readonly check_replies: boolean;
  readonly onError: AppOptions["onError"];
}

/** The HTTP side of one node. */
export interface NodeApp {
  readonly app: Hono<AppEnv>;
  readonly streams: Streams;
  /** Ends streams and long waits; each client has what it needs to go on elsewhere. */
  close(): void;
}

/** Below what proxies and clients wait for an answer as a rule. */
const WAIT_MS = 50_000;

export function createNodeApp({ parts, page, sse, ...options }: NodeAppOptions): NodeApp {
  const shutdown = new AbortController();
  const idempotency = createIdempotency(parts.storage);
  const streams = createStreams({
    log: parts.storage,
    retry_ms: sse.retry_interval,
    heartbeat_ms: sse.heartbeat_interval * 1000,
    stall_ms: STALL_MS,
    onError: (error) => options.onError(error, undefined),
  });
  const app = createApp({
    ...options,
    handlers: createHandlers({ ...parts, streams, idempotency, wait_ms: WAIT_MS }),
    idempotency,
    ...(page && { page: createPage(page) }),
    shutdown: shutdown.signal,
  });
  return {
    app,
    streams,
    close: () => {
      shutdown.abort();
      streams.close();
    },
  };
}
