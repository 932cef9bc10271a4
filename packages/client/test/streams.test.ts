import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Client, createClient, isAppError, type SessionEvent } from "../src/index.ts";
import { type ProtocolServer, RUN, SESSION, sampleLog, startProtocolServer, streamText } from "./protocol-server.ts";

const log = sampleLog();
let server: ProtocolServer;
let client: Client;

beforeEach(async () => {
  server = await startProtocolServer(log);
  client = createClient({ baseUrl: server.url, maxReconnects: 3 });
});
afterEach(() => server.close());

async function collect(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const seen: SessionEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe("sendMessage", () => {
  test("gives the events of the run and then ends", async () => {
    const stream = client.sendMessage(SESSION, "hello", { model: "m" });
    expect(await collect(stream)).toEqual(log);
    expect(stream.run_id).toBe(RUN);
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", url: `/sessions/${SESSION}/messages` });
    expect(JSON.parse(request?.body ?? "")).toEqual({ content: "hello", model: "m" });
    expect(request?.headers).toMatchObject({ accept: "text/event-stream" });
  });

  test("cut at every byte of the answer, gives each event once and sends the message once", {
    tags: "long",
  }, async () => {
    const length = Buffer.byteLength(streamText(log));
    expect(length).toBeGreaterThan(400);
    let answers = 0;
    const base = { offset: 0, at: 0 };
    server.cut = (answer) => (answer === base.offset + 1 ? base.at : undefined);
    for (let at = 0; at < length; at++) {
      base.at = at;
      base.offset = server.requests.length;
      const before = server.accepted.size;
      expect(await collect(client.sendMessage(SESSION, "hello"))).toEqual(log);
      expect(server.accepted.size).toBe(before + 1);
      answers += server.requests.length - base.offset;
    }
    expect(answers).toBeGreaterThanOrEqual(length);
  });

  test("a lost answer is asked for again under the same key", async () => {
    server.cut = (answer) => (answer <= 2 ? -1 : undefined);
    const quick = createClient({ baseUrl: server.url, wait: async () => {} });
    expect(await collect(quick.sendMessage(SESSION, "hello"))).toEqual(log);
    expect([...server.accepted.values()]).toEqual([3]);
  });

  test("once the run is known it is followed by its id, from the last event seen", async () => {
    const firstTwo = Buffer.byteLength(streamText(log.slice(0, 2)));
    server.cut = (answer) => (answer === 1 ? firstTwo : undefined);
    const reconnects: unknown[] = [];
    const stream = client.sendMessage(SESSION, "hello", { onReconnect: (about) => reconnects.push(about) });
    await collect(stream);
    expect(stream.run_id).toBe(RUN);
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST /sessions/${SESSION}/messages`,
      `GET /sessions/${SESSION}/runs/${RUN}/events`,
    ]);
    expect(server.requests[1]?.headers["last-event-id"]).toBe("2");
    expect(reconnects).toEqual([{ last_event_id: 2, replayed: 3, folded: false }]);
  });

  test("whoever wants to know is told that the stream was lost, and none of it is sent", async () => {
    server.cut = (answer) => (answer === 1 ? 0 : answer === 2 ? -1 : undefined);
    const lost: unknown[] = [];
    const quick = createClient({ baseUrl: server.url, wait: async () => {}, random: () => 0 });
    await collect(quick.sendMessage(SESSION, "hello", { onLost: (about) => lost.push(about) }));
    expect(lost.slice(0, 2)).toMatchObject([{ failures: 1 }, { failures: 2, error: { code: "server_unreachable" } }]);
    for (const { body } of server.requests.filter(({ method }) => method === "POST"))
      expect(JSON.parse(body)).toEqual({ content: "hello" });
  });

  test("a second reader is refused: neither would see all", async () => {
    const stream = client.sendMessage(SESSION, "hello");
    const first = collect(stream);
    await expect(collect(stream)).rejects.toMatchObject({
      code: "validation_failed",
      message: expect.stringContaining("followRun"),
    });
    expect(await first).toEqual(log);
  });

  test("rest() reads to the end", async () => {
    const stream = client.sendMessage(SESSION, "hello");
    expect(await stream.rest()).toEqual(log.at(-1));
    // "Undefined" would say that the run had ended before.
    await expect(stream.rest()).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("a server that stays away is given up, and the error says what was received", async () => {
    const firstTwo = Buffer.byteLength(streamText(log.slice(0, 2)));
    server.cut = (answer) => (answer === 1 ? firstTwo : -1);
    const seen: SessionEvent[] = [];
    const failed = await (async () => {
      for await (const event of client.sendMessage(SESSION, "hello")) seen.push(event);
    })().catch((error: unknown) => error);
    expect(seen).toEqual(log.slice(0, 2));
    expect(isAppError(failed, "server_unreachable")).toBe(true);
    expect(failed).toMatchObject({ details: { last_event_id: 2 }, message: expect.stringContaining("event 2") });
  });

  test("waits at least as long as the server asks, longer each time, and starts anew after progress", async () => {
    const waits: number[] = [];
    const patient = createClient({
      baseUrl: server.url,
      random: () => 0,
      wait: async (ms) => void waits.push(ms),
    });
    const first = Buffer.byteLength(streamText(log.slice(0, 1)));
    server.cut = (answer) => [first, -1, -1, first + 80, -1][answer - 1];
    expect(await collect(patient.sendMessage(SESSION, "hello"))).toEqual(log);
    expect(waits).toEqual([1, 2, 4, 1, 2]);
  });

  test("an abort ends the loop with its reason, and the connection", async () => {
    const stop = new AbortController();
    const stream = client.followEvents(SESSION, { after: 0, signal: stop.signal });
    const failed = await (async () => {
      for await (const event of stream) if (event.event === "tool_call") stop.abort(new Error("enough"));
    })().catch((error: unknown) => error);
    expect(failed).toMatchObject({ message: "enough" });
  });
});

describe("followEvents", () => {
  test("goes on over connections that end, without a gap or a repetition", async () => {
    const sizes = [2, 3, 4].map((count) => Buffer.byteLength(streamText(log.slice(0, count))));
    server.cut = (answer) => sizes[answer - 1];
    const seen: SessionEvent[] = [];
    for await (const event of client.followEvents(SESSION, { after: 0 })) {
      seen.push(event);
      if (event.event === "done") break;
    }
    expect(seen).toEqual(log);
    expect(server.requests[0]?.url).toBe(`/sessions/${SESSION}/events?after=0`);
  });

  test("whoever was cut off before anything new came is told when the stream is there again", async () => {
    server.cut = (answer) => (answer === 1 ? 0 : undefined);
    const reconnects: unknown[] = [];
    const onReconnect = (about: unknown) => reconnects.push(about);
    for await (const _ of client.followEvents(SESSION, { after: 2, onReconnect })) break;
    for await (const _ of client.followEvents(SESSION, { after: 2, onReconnect })) break;
    expect(reconnects).toEqual([{ last_event_id: 2, replayed: 3, folded: false }]);
  });

  test("asks for the types it is told", async () => {
    for await (const _ of client.followEvents(SESSION, { after: 0, types: ["token", "done"] })) break;
    expect(server.requests[0]?.url).toBe(`/sessions/${SESSION}/events?after=0&type=token&type=done`);
  });
});

describe("followRun", () => {
  test("ends at once where the run has ended", async () => {
    expect(await collect(client.followRun(SESSION, RUN, { after: 5 }))).toEqual([]);
  });

  test("starts with the run's first event", async () => {
    expect(await collect(client.followRun(SESSION, RUN))).toEqual(log);
    // A server takes silence for "what comes next".
    expect(server.requests[0]?.url).toBe(`/sessions/${SESSION}/runs/${RUN}/events?after=0`);
  });
});
