import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { streamOf } from "./event-stream.ts";

/**
 * Hands the answer over to whoever sends it. An event stream with a socket is written to it directly: a thousand web
 * streams, each with a promise for every event, cost several times as much.
 */
export async function deliver(
  response: Response,
  request: Request,
  env: Partial<HttpBindings> | undefined,
): Promise<Response> {
  const stream = streamOf(response);
  if (request.method === "HEAD") {
    await response.body?.cancel(); // nobody will read it, so nobody would end it
    return new Response(null, response);
  }
  if (!stream || !env?.outgoing) return response;
  env.outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  stream.writeTo(env.outgoing);
  return RESPONSE_ALREADY_SENT;
}
