import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { LogEvent } from "../src/index.ts";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** How many bytes of the n-th answer get through before the socket is cut; undefined for all of them. */
export type CutAt = (answer: number) => number | undefined;

export interface ProtocolServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** By Idempotency-Key: what was accepted, and how often. */
  readonly accepted: ReadonlyMap<string, number>;
  cut: CutAt;
  close(): Promise<void>;
}

export const SESSION = "s1";
export const RUN = "r1";

/** Speaks the streams of the API over a fixed log, all of one run, and loses connections as it is told. */
export async function startProtocolServer(log: readonly LogEvent[]): Promise<ProtocolServer> {
  const requests: ReceivedRequest[] = [];
  const accepted = new Map<string, number>();
  let answers = 0;
  const state: { cut: CutAt } = { cut: () => undefined };

  const server = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    requests.push({ method, url, headers, body: await text(request) });
    const key = String(headers["idempotency-key"]);
    if (method === "POST") accepted.set(key, (accepted.get(key) ?? 0) + 1);
    const limit = state.cut(++answers);
    if (limit === -1) request.socket.destroy();
    else writeLog({ method, url, header: headers["last-event-id"]?.toString() }, response, limit);
  }

  function writeLog(
    { method, url, header }: { method: string; url: string; header: string | undefined },
    response: ServerResponse,
    limit: number | undefined,
  ): void {
    const after = Number(header ?? new URL(url, "http://x").searchParams.get("after") ?? 0);
    const rest = log.filter(({ id }) => id > after);
    if (method === "GET" && rest.length === 0) return void response.writeHead(204).end();
    response.writeHead(200, {
      "content-type": "text/event-stream",
      ...(method === "POST" && { "content-location": `/sessions/${SESSION}/runs/${RUN}` }),
    });
    response.flushHeaders();
    const bytes = Buffer.from(streamText(rest, header === undefined ? undefined : after));
    if (limit === undefined || limit >= bytes.length) response.end(bytes);
    else response.write(bytes.subarray(0, limit), () => response.socket?.destroy());
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    accepted,
    get cut() {
      return state.cut;
    },
    set cut(cut) {
      state.cut = cut;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function streamText(events: readonly LogEvent[], reconnectedAfter?: number): string {
  const about = { last_event_id: reconnectedAfter, replayed: events.length, folded: false };
  const first = reconnectedAfter === undefined ? "" : `event: reconnected\ndata: ${JSON.stringify(about)}\n\n`;
  const frames = events.map(({ id, event, data }) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const position = reconnectedAfter === undefined ? "id: 0\n\n" : "";
  return `retry: 1\n\n${position}${first}:heartbeat\n\n${frames.join("")}`;
}

/** A run with text of more than one byte per character, so that cuts fall inside them too. */
export function sampleLog(): LogEvent[] {
  const run_id = RUN;
  return [
    { id: 1, event: "status", data: { run_id, status: "queued" } },
    { id: 2, event: "token", data: { run_id, content: "Grüße 👋" } },
    { id: 3, event: "token", data: { run_id, content: "two\nlines" } },
    { id: 4, event: "tool_call", data: { run_id, id: "c1", name: "ls", args: { path: "/" } } },
    { id: 5, event: "done", data: { run_id, status: "succeeded", assistant_data: null, message_id: null } },
  ];
}
