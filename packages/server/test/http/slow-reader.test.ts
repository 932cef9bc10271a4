import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { openStorage } from "@cognition/thread";
import { describe, expect, it, onTestFinished } from "vitest";
import { streamOf } from "../../src/http/event-stream.ts";
import { createStreams } from "../../src/http/streams.ts";

const STALL_MS = 300;
const TEXT = "x".repeat(10_000);

async function startStream() {
  const storage = await openStorage("memory");
  const { id: session_id } = await storage.createSession({});
  const options = { log: storage, retry_ms: 1, heartbeat_ms: 20, stall_ms: STALL_MS, onError: () => undefined };
  const streams = createStreams(options);
  const server = createServer(async (incoming, outgoing) => {
    const last = incoming.headers["last-event-id"];
    const last_event_id = last === undefined ? undefined : Number(last);
    const response = await streams.followSession({ session_id, last_event_id, after: 0 });
    outgoing.writeHead(200);
    streamOf(response)?.writeTo(outgoing);
    written.push(outgoing);
  });
  const written: { writableLength: number }[] = [];
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await storage.close();
  });
  const append = (count: number) =>
    storage.appendEvents({
      session_id,
      events: Array.from({ length: count }, () => ({ event: "token" as const, data: { content: TEXT } })),
    });
  return { streams, options, written, append, port: (server.address() as AddressInfo).port };
}

/** Connects, and hands over the response with nothing read of it. */
async function connectPaused(port: number, headers: Record<string, string> = {}) {
  const sent = request({ port, host: "127.0.0.1", headers, agent: false });
  sent.end();
  const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  response.pause();
  return response;
}

describe("a reader that does not read", () => {
  it("costs no more than a piece and the socket's own buffers, is cut off, and comes back without a gap", async () => {
    const { streams, options, written, append, port } = await startStream();
    const response = await connectPaused(port);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    response.on("close", resolve).on("error", () => undefined);
    for (let n = 0; n < 20; n++) {
      await append(100);
      // What waits in memory for this reader, while 20 MB go by.
      expect(written[0]?.writableLength ?? 0).toBeLessThan(400_000);
    }
    await until(() => streams.open === 0);
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    response.resume();
    await closed;
    const whole = text.slice(0, text.lastIndexOf("\n\n"));
    const ids = [...whole.matchAll(/^id: (\d+)\nevent/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(ids.length).toBeLessThan(2000);
    options.stall_ms = 60_000; // this one reads, though the whole process may pause meanwhile
    const again = await connectPaused(port, { "last-event-id": String(ids.at(-1)) });
    const rest: number[] = [];
    let tail = "";
    again.setEncoding("utf8").on("data", (part: string) => {
      tail += part;
      for (const [, id] of tail.matchAll(/^id: (\d+)\n/gm)) rest.push(Number(id));
      tail = tail.slice(tail.lastIndexOf("\n\n"));
    });
    again.resume();
    await until(() => rest.at(-1) === 2000);
    expect([...ids, ...new Set(rest)]).toEqual(Array.from({ length: 2000 }, (_, index) => index + 1));
    again.destroy();
  });

  it("that goes away is forgotten", async () => {
    const { streams, append, port } = await startStream();
    await append(1);
    const responses = await Promise.all(Array.from({ length: 20 }, () => connectPaused(port)));
    await until(() => streams.open === 20);
    for (const response of responses) (response.socket as Socket).destroy();
    await until(() => streams.open === 0);
  });
});

async function until(fact: () => boolean): Promise<void> {
  const deadline = performance.now() + 50_000;
  while (!fact()) {
    if (performance.now() > deadline) throw new Error(`not in time: ${fact}`);
    await delay(10);
  }
}
