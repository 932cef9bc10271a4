import { createServer as createHttpServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AppError } from "@cognition/contract";
import { getRequestListener } from "@hono/node-server";
import { type ComposeOptions, compose, type Runtime } from "./compose.ts";
import { defaultConfig } from "./config.ts";
import { hasCode, messageOf } from "./file/error-text.ts";
import { answerBadRequest, answerUnreadable } from "./http/bad-request.ts";

export interface StartServerOptions extends ComposeOptions {
  /** Over those of the configuration; port 0 is any free one. */
  host?: string;
  port?: number;
  /** Whose SIGTERM, SIGINT and SIGHUP close the server, in good order. */
  signals?: Pick<NodeJS.Process, "on" | "once" | "off">;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly runtime: Runtime;
  /** Resolves when the server has closed, whoever closed it. */
  readonly closed: Promise<void>;
  /**
   * Says 503 on /ready, hands running work over at its next step or after `drain_ms`, ends every stream at an event that
   * its client can go on from, and lets go of the port. The storage stays open: whoever opened it closes it.
   */
  close(drain_ms?: number): Promise<void>;
}

/** After so long a connection that is still busy is cut. */
const LAST_ANSWERS_MS = 2_000;
/**
 * Longer than proxies keep a connection that waits for its next request (nginx and AWS 60 s, Traefik 90 s, Caddy 120 s). Whoever
 * closes first must be the proxy: a POST that it sends on a connection that is just being closed here may not be sent again, and is 502.
 */
const KEEP_ALIVE_MS = 125_000;
/**
 * Connections that may wait to be taken in: when a node comes back, all that followed a stream of it come at once. With Node's
 * 511 the others are dropped by the system and try again a second later, then two, then four. The system may have a lower limit.
 */
const BACKLOG = 4_096;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Joins the parts, listens, and begins to work on runs. */
export async function startServer(options: StartServerOptions): Promise<RunningServer> {
  const config = options.config ?? defaultConfig();
  const { host = config.server.host, port = config.server.port } = options;
  // Who can reach the server decides what it may do, so it is composed for the address it really listens on.
  const runtime = await compose({ ...options, config: { ...config, server: { ...config.server, host, port } } });
  const server = createServer(runtime, config.server.header_limit);
  try {
    await listen(server, host, port);
  } catch (error) {
    await runtime.close(0);
    throw error;
  }
  if (options.works !== false) runtime.start();
  const address = server.address() as AddressInfo;
  const ended = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;

  function close(drain_ms?: number): Promise<void> {
    closing ??= stop(server, runtime, drain_ms).finally(() => {
      for (const signal of SIGNALS) options.signals?.off(signal, onSignal);
    });
    closing.then(ended.resolve, ended.reject);
    return closing;
  }
  function onSignal(): void {
    close().catch(() => undefined); // `closed` tells
  }
  ended.promise.catch(() => undefined); // told to whoever waits
  for (const signal of ["SIGTERM", "SIGINT"] as const) options.signals?.once(signal, onSignal);
  // Not once: a closed terminal is told of by the system and again by the shell, and the second would end the process at once.
  options.signals?.on("SIGHUP", onSignal);
  return { url: urlOf(host, address.port), port: address.port, runtime, closed: ended.promise, close };
}

function createServer({ http }: Runtime, maxHeaderSize: number): Server {
  const listener = getRequestListener(http.app.fetch, {
    // Probes that speak HTTP/1.0 send no Host; a browser always does.
    hostname: "localhost",
    errorHandler: answerUnreadable,
    // The adapter's own Request and Response would replace those of the whole process.
    overrideGlobalObjects: false,
  });
  const server = createHttpServer({ maxHeaderSize, keepAliveTimeout: KEEP_ALIVE_MS }, listener);
  // Their size is limited. Past a count of its own Node drops them, in some releases without a word: a scope's header that a
  // proxy adds behind a client's two thousand would be gone, and the client's own stand.
  server.maxHeadersCount = 0;
  server.on("clientError", answerBadRequest);
  // Node would answer an expectation that it doesn't know with a bare 417; every other header it doesn't know is ignored.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen({ port, host, backlog: BACKLOG }, resolve);
  try {
    await promise;
  } catch (cause) {
    throw new AppError(
      "invalid_config",
      `Can't listen on ${host} port ${port}: ${whyNotHeard(cause)}. Nothing was started.`,
      { cause },
    );
  } finally {
    server.off("error", reject);
  }
}

function whyNotHeard(cause: unknown): string {
  if (hasCode(cause, "EADDRINUSE"))
    return "something listens there already, perhaps an earlier start of this; end that, or set another server.port (COGNITION_PORT)";
  return messageOf(cause);
}

async function stop(server: Server, runtime: Runtime, drain_ms: number | undefined): Promise<void> {
  await runtime.drain(drain_ms);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // A connection whose last answer ends only now would be kept alive for the next request.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const late = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
  await promise;
  clearInterval(idle);
  clearTimeout(late);
  await runtime.close(0);
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
