import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { startWebServer } from "../tool/web-server.ts";

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver extends AsyncDisposable {
  url: string;
  port: number;
  received: Received[];
}

/** Somebody who wants to be told: answers each call in turn as said, the last way from then on. */
export async function openReceiver(...answers: ((response: ServerResponse) => void)[]): Promise<Receiver> {
  const received: Received[] = [];
  const server = await startWebServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const answer = answers[Math.min(received.length, answers.length - 1)] ?? ok;
    received.push({ headers: request.headers, body });
    answer(response);
  });
  return { url: `${server.url}/hook`, port: server.port, received, [Symbol.asyncDispose]: server.close };
}

export const ok = (response: ServerResponse) => void response.writeHead(204).end();

export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end("no");
