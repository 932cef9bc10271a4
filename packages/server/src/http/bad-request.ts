import type { Duplex } from "node:stream";
import { AppError } from "@cognition/contract";
import { problemResponse, toProblem } from "./problem.ts";

/** A request whose target or Host makes no address (`OPTIONS *`). Whatever else goes wrong, the application answers itself. */
export function answerUnreadable(error: unknown): Response {
  if (!(error instanceof Error) || error.name !== "RequestError") return problemResponse(error);
  return problemResponse(new AppError("malformed_request", `The request can't be read: ${error.message}`));
}

/** What is not HTTP, or more headers than fit, never becomes a request; it is told so all the same. */
export function answerBadRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const tooLong = error.code === "HPE_HEADER_OVERFLOW";
  const detail = tooLong ? "The headers are larger than this server takes" : "The request is not HTTP";
  const { problem } = toProblem(new AppError("malformed_request", detail), undefined);
  const status = tooLong ? { ...problem, status: 431 } : problem;
  const body = JSON.stringify(status);
  const head = [
    `HTTP/1.1 ${tooLong ? "431 Request Header Fields Too Large" : "400 Bad Request"}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
