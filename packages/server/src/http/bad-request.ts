import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { AppError } from "@cognition/contract";
import { problemResponse, toProblem } from "./problem.ts";

/** A request whose target or Host makes no address (`OPTIONS *`). Whatever else goes wrong, the application answers itself. */
export function answerUnreadable(error: unknown): Response {
  if (!(error instanceof Error) || error.name !== "RequestError") return problemResponse(error);
  return problemResponse(new AppError("malformed_request", `The request can't be read: ${error.message}`));
}

interface Refusal {
  readonly status: number;
  readonly detail: string;
}

/** By Node's own code. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: "The headers are larger than this server takes" },
  // Of an address typed as it is read: curl encodes what is odd in a path by itself, and not in a query.
  HPE_INVALID_URL: {
    status: 400,
    detail:
      "The address has a character that must be percent-encoded, as ë is %C3%AB (curl -G --data-urlencode does so)",
  },
  HPE_INVALID_EOF_STATE: { status: 400, detail: "The connection was ended before the request was; nothing was done" },
  HPE_PAUSED_H2_UPGRADE: { status: 400, detail: "HTTP/2 is not spoken here; HTTP/1.1 is" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "The request took too long to arrive; nothing was done" },
};

/** In the parser's words: a wrong Content-Length is not to be looked for in the method. */
function notHttp({ reason = "" }: ParseError): Refusal {
  return { status: 400, detail: `The request is not well-formed HTTP/1.1${reason && `: ${reason}`}` };
}

interface ParseError extends NodeJS.ErrnoException {
  readonly reason?: string;
}

/** What is not HTTP, more headers than fit, or no end of it in time never becomes a request; it is told so all the same. */
export function answerBadRequest(error: ParseError, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, detail } = REFUSALS[error.code ?? ""] ?? notHttp(error);
  const { problem } = toProblem(new AppError("malformed_request", detail), undefined);
  const body = JSON.stringify({ ...problem, status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
