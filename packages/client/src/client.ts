import type { Scope } from "@cognition/contract";
import { createBackoff, type Wait, wait } from "./backoff.ts";
import type { Operations } from "./operation-types.ts";
import { createOperations } from "./operations.ts";
import { createStreams, type Streams } from "./streams.ts";
import { createTransport, type Fetch, type TransportOptions } from "./transport.ts";

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8000`. */
  readonly baseUrl: string;
  /** Whom the caller stands for: each key becomes a header. */
  readonly scope?: Scope;
  readonly apiKey?: string;
  readonly token?: TransportOptions["token"];
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: Fetch;
  /** Repetitions of a request that may be repeated and met a server that was not there. */
  readonly retries?: number;
  /** Attempts in a row, without one new event or heartbeat, after which a stream is given up. */
  readonly maxReconnects?: number;
  /** Silence after which a stream's connection counts as dead, before its answer too. The server's heartbeat must come more often. */
  readonly idleTimeoutMs?: number;
  readonly random?: () => number;
  readonly wait?: Wait;
}

const RETRIES = 2;
const MAX_RECONNECTS = 20;
const IDLE_TIMEOUT_MS = 60_000;
/** A timer of more would end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Every operation of the API by its name, and streams that reconnect by themselves. Errors are AppErrors with a `code`. */
export interface Client extends Operations, Streams {
  readonly baseUrl: string;
}

export function createClient(options: ClientOptions): Client {
  const backoff = createBackoff(options.random ?? Math.random);
  const pause = options.wait ?? wait;
  const transport = createTransport({
    baseUrl: options.baseUrl,
    scope: options.scope ?? {},
    apiKey: options.apiKey,
    token: options.token,
    headers: options.headers ?? {},
    // Called as a function of the global object: browsers refuse `fetch` as a method of anything else.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    wait: pause,
    backoff,
    retries: options.retries ?? RETRIES,
  });
  const streams = createStreams({
    transport,
    backoff,
    wait: pause,
    idleMs: Math.min(options.idleTimeoutMs ?? IDLE_TIMEOUT_MS, LONGEST_TIMER_MS),
    maxFailures: options.maxReconnects ?? MAX_RECONNECTS,
  });
  return { baseUrl: options.baseUrl, ...createOperations(transport), ...streams };
}
