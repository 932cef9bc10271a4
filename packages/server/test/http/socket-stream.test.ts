import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type TextSource, writeToSocket } from "../../src/http/socket-stream.ts";

/** A response whose client has gone before anybody wrote to it. */
async function abandoned(): Promise<ServerResponse> {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, response) => arrived.resolve(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const client = request({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  client.on("error", () => undefined); // it is we who cut it
  client.end();
  const response = await arrived.promise;
  const closed = once(response, "close");
  client.destroy();
  await closed;
  return response;
}

/** Ends when it is told to; `next` says what comes until then. */
function tracked(next: () => Promise<IteratorResult<string, undefined>>) {
  const ended = Promise.withResolvers<void>();
  const source: TextSource = {
    next,
    ended: ended.promise,
    return: async () => {
      ended.resolve();
      return { done: true, value: undefined };
    },
  };
  return source;
}

describe("a stream to a client that has gone already", () => {
  const options = { heartbeat_ms: 60_000, stall_ms: 60_000 };

  it("is ended, not left open with a heartbeat for nobody", async () => {
    const response = await abandoned();
    const source = tracked(() => new Promise(() => undefined));
    writeToSocket(source, response, { ...options, onError: () => undefined });
    await source.ended;
  });

  it("is ended when its log can't be read, and that is told", async () => {
    const response = await abandoned();
    const errors: unknown[] = [];
    const failure = new Error("away");
    const source = tracked(() => Promise.reject(failure));
    writeToSocket(source, response, { ...options, onError: (error) => errors.push(error) });
    await source.ended;
    await expect.poll(() => errors).toEqual([failure]);
  });
});
