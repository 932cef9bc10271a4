import { Agent, request, validateHeaderName, validateHeaderValue } from "node:http";
import { HUGE_BODY } from "./odd-value.ts";

export interface RawRequest {
  readonly method: string;
  /** As it stands in the request line: nothing resolves its dots. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Buffer | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** A stream of the log never ends; so much of it is enough. */
const READ_MS = 250;
const ANSWER_MS = 20_000;
const CUT: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** Sends what `fetch` would tidy up before. Undefined for what the client itself can't put into a request. */
export function createRawClient(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  function send(raw: RawRequest): Promise<RawAnswer | undefined> {
    const { method, target, headers, body } = raw;
    const { promise, resolve, reject } = Promise.withResolvers<RawAnswer | undefined>();
    if (!isSendable(headers)) return Promise.resolve(undefined);
    const outgoing = request({ port, host: "127.0.0.1", method, path: target, agent, timeout: ANSWER_MS });
    for (const [name, value] of headers) outgoing.setHeader(name, value);
    if (body !== undefined) outgoing.setHeader("Content-Length", Buffer.byteLength(body));
    outgoing.on("response", (response) => {
      const chunks: Buffer[] = [];
      const type = response.headers["content-type"] ?? "";
      const answer = () => ({ status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() });
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(answer()));
      response.on("error", () => resolve(answer()));
      if (type.startsWith("text/event-stream")) setTimeout(() => outgoing.destroy(), READ_MS);
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer to ${method} ${target.slice(0, 200)}`)));
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      // The server let go of an idle connection just as it was used again.
      if (outgoing.reusedSocket && CUT.has(error.code ?? "")) resolve(send(raw));
      // What is too large is answered before it was taken in; who goes on sending may miss the answer.
      else if (body === HUGE_BODY && CUT.has(error.code ?? "")) resolve(undefined);
      else reject(error);
    });
    outgoing.end(body);
    return promise;
  }

  return { send, close: () => agent.destroy() };
}

function isSendable(headers: RawRequest["headers"]): boolean {
  try {
    for (const [name, value] of headers) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}
