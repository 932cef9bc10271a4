import { EventEmitter, once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
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

describe("a heartbeat", () => {
  const HEARTBEAT_MS = 1_000;

  /** What is written to a client that takes all, or nothing, of what comes. */
  function written(takes: boolean, next: () => Promise<IteratorResult<string, undefined>>) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const pieces: string[] = [];
    const outgoing = Object.assign(new EventEmitter(), {
      writableNeedDrain: false,
      write(piece: string) {
        pieces.push(piece);
        outgoing.writableNeedDrain = !takes;
        return takes;
      },
      end: () => undefined,
      destroy: () => undefined,
    });
    const options = { heartbeat_ms: HEARTBEAT_MS, stall_ms: 3_600_000, onError: () => undefined };
    writeToSocket(tracked(next), outgoing as unknown as ServerResponse, options);
    return pieces;
  }

  it("is sent after silence, not between events", async () => {
    let events = 0;
    const pieces = written(true, async () => {
      if (++events > 5) return new Promise(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, HEARTBEAT_MS - 1));
      return { done: false, value: "event" };
    });
    await vi.advanceTimersByTimeAsync(5 * HEARTBEAT_MS);
    expect(pieces).toEqual(Array(5).fill("event"));
    await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS);
    expect(pieces.slice(5)).toEqual([":heartbeat\n\n", ":heartbeat\n\n"]);
  });

  it("is not heaped up behind what its reader does not take", async () => {
    const pieces = written(false, async () => ({ done: false, value: "event" }));
    await vi.advanceTimersByTimeAsync(10 * HEARTBEAT_MS);
    expect(pieces).toEqual(["event"]);
  });
});
