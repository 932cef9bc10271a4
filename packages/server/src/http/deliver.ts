import type { ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { streamOf } from "./event-stream.ts";

/** A reader that takes nothing for so long has gone, or will come back: to a stream with the last id it saw. */
export const STALL_MS = 30_000;

/**
 * Hands the answer over to whoever sends it. An event stream with a socket is written to it directly: a thousand web
 * streams, each with a promise for every event, cost several times as much. A reader that takes nothing for `stall_ms` is
 * cut off; streams see to that themselves.
 */
export async function deliver(
  response: Response,
  request: Request,
  env: Partial<HttpBindings> | undefined,
  stall_ms = STALL_MS,
): Promise<Response> {
  const stream = streamOf(response);
  if (request.method === "HEAD") {
    await response.body?.cancel(); // nobody will read it, so nobody would end it
    return new Response(null, response);
  }
  if (!env?.outgoing) return response;
  if (!stream) {
    cutWhenStalled(env.outgoing, stall_ms);
    return response;
  }
  env.outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  stream.writeTo(env.outgoing);
  return RESPONSE_ALREADY_SENT;
}

/** What such a reader was sent waits in memory, all of it, for as long as the connection stands. */
function cutWhenStalled(outgoing: ServerResponse, stall_ms: number): void {
  outgoing.setTimeout(stall_ms);
  // Ahead of Node, which then sets how long the connection may wait for the next request.
  outgoing.prependOnceListener("finish", () => outgoing.setTimeout(0));
}
