import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One thing that happens on the wire. `raw` is sent as it is; `reset` and `close` end the connection before its time. */
export type Piece =
  | { readonly type: "raw"; readonly data: string }
  | { readonly type: "pause"; readonly ms: number }
  | { readonly type: "hang" }
  | { readonly type: "reset" }
  | { readonly type: "close" };

/** How one request is answered. */
export type Answer =
  | { readonly type: "stream"; readonly pieces: readonly Piece[]; readonly headers?: Record<string, string> }
  | { readonly type: "body"; readonly status: number; readonly body: string; readonly headers?: Record<string, string> }
  | { readonly type: "silence" };

interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** Resolves when the client has gone away before the end of the answer. */
  readonly left: Promise<void>;
}

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Answers for the requests to come, one each; the last one serves all that follow. */
  script(...answers: readonly Answer[]): void;
}

export async function openScriptedServer(): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  let answers: readonly Answer[] = [];
  let served = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const left = new Promise<void>((resolve) =>
        response.once("close", () => !response.writableFinished && resolve()),
      );
      const text = Buffer.concat(chunks).toString("utf8");
      requests.push({ path: request.url ?? "", headers: request.headers, body: text ? JSON.parse(text) : {}, left });
      const answer = answers[Math.min(served++, answers.length - 1)];
      if (!answer) throw new Error("the test has scripted no answer");
      void serve(response, answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    script(...next) {
      answers = next;
      served = 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(response: ServerResponse, answer: Answer): Promise<void> {
  if (answer.type === "silence") return;
  if (answer.type === "body") {
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(answer.body);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", ...answer.headers });
  response.flushHeaders();
  for (const piece of answer.pieces) {
    if (response.destroyed) return;
    if (piece.type === "hang") return;
    if (piece.type === "reset") return void response.socket?.resetAndDestroy();
    if (piece.type === "close") return void response.end();
    if (piece.type === "pause") await new Promise((resolve) => setTimeout(resolve, piece.ms));
    else await new Promise((resolve) => response.write(piece.data, resolve));
  }
  response.end();
}
