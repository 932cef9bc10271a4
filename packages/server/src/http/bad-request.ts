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

const NOT_HTTP: Refusal = { status: 400, detail: "The request is not HTTP" };
/** By Node's own code. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: "The headers are larger than this server takes" },
  // Of an address typed as it is read: curl encodes what is odd in a path by itself, and not in a query.
  HPE_INVALID_URL: {
    status: 400,
    detail:
      "The address has a character that must be percent-encoded, as ë is %C3%AB (curl -G --data-urlencode does so)",
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "The request took too long to arrive; nothing was done" },
};

/** What is not HTTP, more headers than fit, or no end of it in time never becomes a request; it is told so all the same. */
export function answerBadRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, detail } = REFUSALS[error.code ?? ""] ?? NOT_HTTP;
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
