import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { answerBadRequest } from "../../src/http/bad-request.ts";

it.each([
  ["headers", "GET /health HTTP/1.1\r\nHost: localhost\r\n"],
  ["a body", "POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"],
])("who does not come to the end of %s is told so, and not that it is no HTTP", async (_what, begun) => {
  const soon = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 };
  const server = createServer(soon, () => undefined).on("clientError", answerBadRequest);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(begun);
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(JSON.parse(body)).toMatchObject({
    status: 408,
    code: "malformed_request",
    detail: expect.stringMatching(/took too long/),
  });
});

it("whose address has what must be encoded is told so, with how", async () => {
  const server = createServer(() => undefined).on("clientError", answerBadRequest);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET /sessions?metadata.name=Zo\u00eb HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(JSON.parse(body)).toMatchObject({
    code: "malformed_request",
    detail: expect.stringMatching(/percent-encoded.*--data-urlencode/),
  });
});

it.each([
  ["a length that is none", "Content-Length: -1\r\n\r\n", "Invalid character in Content-Length"],
  ["two lengths", "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "Duplicate Content-Length"],
  ["a bad chunk", "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "Invalid character in chunk size"],
  ["less than was announced", "Content-Length: 9\r\n\r\n{}", "The connection was ended before the request was"],
])("whoever sends %s is told what is wrong", async (_what, sent, why) => {
  const server = createServer(() => undefined).on("clientError", answerBadRequest);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.end(`POST /sessions HTTP/1.1\r\nHost: localhost\r\n${sent}`);
  const [, body = ""] = (await text(socket)).split("\r\n\r\n");
  expect(JSON.parse(body)).toMatchObject({ code: "malformed_request", detail: expect.stringContaining(why) });
});
