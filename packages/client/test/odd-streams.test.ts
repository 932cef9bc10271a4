import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { createClient, type SessionEvent } from "../src/index.ts";

/** A server whose n-th answer is written by the n-th function. */
async function withAnswers<T>(
  answers: readonly ((response: ServerResponse) => void)[],
  use: (url: string, positions: (string | undefined)[]) => Promise<T>,
): Promise<T> {
  const positions: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const position = request.headers["last-event-id"];
    answers[positions.push(typeof position === "string" ? position : undefined) - 1]?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, positions);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const stream =
  (text: string, end = true) =>
  (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (end) response.end(text);
    else response.write(text);
  };
const token = (id: number) => `id: ${id}\nevent: token\ndata: {"content":"${id}"}\n\n`;

async function take(events: AsyncIterable<SessionEvent>, count: number): Promise<SessionEvent[]> {
  const seen: SessionEvent[] = [];
  for await (const event of events) if (seen.push(event) === count) break;
  return seen;
}

afterEach(() => {
  vi.useRealTimers();
});

test("a connection that is silent for too long is made anew", async () => {
  // The client's clock stands still but for the silence: neither answer can come too late.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await withAnswers([stream(token(1), false), stream(token(2), false)], async (url, positions) => {
    const client = createClient({ baseUrl: url, idleTimeoutMs: 50, wait: async () => {} });
    const events = client.followEvents("s", { after: 0 })[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ value: { id: 1 } });
    const next = events.next();
    await vi.advanceTimersByTimeAsync(50);
    expect(await next).toMatchObject({ value: { id: 2 } });
    expect(positions).toEqual([undefined, "1"]);
    await events.return?.();
  });
});

test("a log that ends before what was seen gives a reset, and goes on from there", async () => {
  const reset = 'event: reset\ndata: {"head":3}\n\n';
  await withAnswers([stream(`retry: 1\n\n${token(9)}`), stream(`${reset}${token(4)}`)], async (url, positions) => {
    const events = await take(createClient({ baseUrl: url }).followEvents("s", { after: 8 }), 3);
    expect(events.map(({ event }) => event)).toEqual(["token", "reset", "token"]);
    expect(events.at(-1)).toMatchObject({ id: 4 });
    expect(positions).toEqual([undefined, "9"]);
  });
});

test("a mere position is kept, so that a stream that has shown nothing yet misses nothing", async () => {
  await withAnswers([stream("retry: 1\nid: 41\n\n"), stream(token(42))], async (url, positions) => {
    const [event] = await take(createClient({ baseUrl: url }).followEvents("s"), 1);
    expect(event).toMatchObject({ id: 42 });
    expect(positions).toEqual([undefined, "41"]);
  });
});

test("events that come twice are given once", async () => {
  const answers = [stream(`retry: 1\n\n${token(1)}${token(1)}${token(2)}`), stream(token(1) + token(2) + token(3))];
  await withAnswers(answers, async (url) => {
    const events = await take(createClient({ baseUrl: url }).followEvents("s", { after: 0 }), 3);
    expect(events.map((event) => "id" in event && event.id)).toEqual([1, 2, 3]);
  });
});

const problem =
  (status: number, code: string, headers = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { "content-type": "application/problem+json", ...headers });
    response.end(JSON.stringify({ type: "about:blank", title: "t", status, detail: `it is ${code}`, code }));
  };

test("a refusal is not repeated; a busy server is asked again when it says so", async () => {
  await withAnswers([problem(404, "session_not_found")], async (url, positions) => {
    const failed = take(createClient({ baseUrl: url }).followEvents("s", { after: 0 }), 1);
    await expect(failed).rejects.toMatchObject({ code: "session_not_found", message: "it is session_not_found" });
    expect(positions).toHaveLength(1);
  });
  const waits: number[] = [];
  await withAnswers([problem(429, "rate_limited", { "retry-after": "7" }), stream(token(1))], async (url) => {
    const client = createClient({ baseUrl: url, random: () => 0, wait: async (ms) => void waits.push(ms) });
    await take(client.followEvents("s", { after: 0 }), 1);
  });
  expect(waits).toEqual([7000]);
});

test("a pause of years is a stream's for an hour at most, and no other call's", async () => {
  const waits: number[] = [];
  const years = problem(429, "rate_limited", { "retry-after": "99999999" });
  await withAnswers([years, stream(token(1)), years], async (url) => {
    const client = createClient({ baseUrl: url, random: () => 0, wait: async (ms) => void waits.push(ms) });
    for await (const _ of client.followEvents("s")) break;
    await expect(client.getSession("s")).rejects.toMatchObject({
      code: "rate_limited",
      details: { retry_after: "99999999" },
    });
  });
  expect(waits).toEqual([3_600_000]);
});

test("a page where a stream should be is told at once: asking again would not help", async () => {
  const page = (response: ServerResponse) => response.setHeader("content-type", "text/html").end("<html></html>");
  await withAnswers([page, page], async (url, positions) => {
    const client = createClient({ baseUrl: url, wait: async () => Promise.reject(new Error("was tried again")) });
    const wrong = { code: "unexpected_answer", message: expect.stringContaining("text/html") };
    await expect(client.sendMessage("s", "hello").rest()).rejects.toMatchObject(wrong);
    await expect(take(client.followEvents("s"), 1)).rejects.toMatchObject(wrong);
    expect(positions).toHaveLength(2);
  });
});

test("a page that has no end is not kept open behind the error", async () => {
  const closed = Promise.withResolvers<void>();
  const endless = (response: ServerResponse) => {
    response.on("close", () => closed.resolve());
    response.writeHead(200, { "content-type": "text/html" }).write("<html>");
  };
  await withAnswers([endless], async (url) => {
    await expect(take(createClient({ baseUrl: url }).followEvents("s"), 1)).rejects.toMatchObject({
      code: "unexpected_answer",
    });
    await closed.promise;
  });
});

test("a quiet session is followed for as long as its connections show that they live, however often they are cut", async () => {
  const quiet = stream("retry: 1\nid: 3\n\n:heartbeat\n\n");
  const answers = [...Array.from({ length: 6 }, () => quiet), stream(token(4))];
  const waits: number[] = [];
  const seen = await withAnswers(answers, (baseUrl) => {
    const wait = async (ms: number) => void waits.push(ms);
    const client = createClient({ baseUrl, maxReconnects: 2, random: () => 0, wait });
    return take(client.followEvents("s"), 1);
  });
  expect(seen).toMatchObject([{ id: 4 }]);
  expect(waits).toEqual([1, 1, 1, 1, 1, 1]);
});

test("a server that takes the connection and never answers is given up like one that falls silent", async () => {
  const busy = (response: ServerResponse) => response.writeHead(503).write("busy"); // and never the rest of it
  await withAnswers([() => {}, busy, stream(token(1))], async (url, positions) => {
    const lost: unknown[] = [];
    const client = createClient({ baseUrl: url, idleTimeoutMs: 200, wait: async () => {} });
    const onLost = ({ error }: { error: unknown }) => void lost.push(error);
    expect(await take(client.followEvents("s", { after: 0, onLost }), 1)).toMatchObject([{ id: 1 }]);
    expect(positions).toHaveLength(3);
    expect(lost[0]).toMatchObject({
      code: "server_unreachable",
      message: expect.stringContaining("no answer in 200 ms"),
    });
  });
});

test("whoever leaves the loop leaves no connection behind, and no timer", async () => {
  const closed = Promise.withResolvers<void>();
  const open = (response: ServerResponse) => {
    response.on("close", () => closed.resolve());
    stream(token(1), false)(response);
  };
  await withAnswers([open], async (url) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    expect(await take(createClient({ baseUrl: url }).followEvents("s", { after: 0 }), 1)).toMatchObject([{ id: 1 }]);
    await closed.promise;
    // One would keep the process alive, which has nothing more to do.
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("a stream is tried so many times more as the caller says, and then given up", async () => {
  for (const maxReconnects of [0, 2]) {
    await withAnswers([], async (baseUrl) => {
      let tries = 0;
      const away = async () => {
        tries++;
        throw new TypeError("fetch failed");
      };
      const client = createClient({ baseUrl, maxReconnects, fetch: away, wait: async () => {} });
      await expect(take(client.followEvents("s"), 1)).rejects.toMatchObject({ code: "server_unreachable" });
      expect(tries).toBe(1 + maxReconnects);
    });
  }
});

test("a stream that brings one event at a time is one, however often it ends", async () => {
  const answers = [1, 2, 3, 4].map((id) => stream(token(id)));
  await withAnswers(answers, async (baseUrl) => {
    const client = createClient({ baseUrl, maxReconnects: 1, wait: async () => {} });
    expect(await take(client.followEvents("s", { after: 0 }), 4)).toHaveLength(4);
  });
});

test("an abort does not wait for a server that takes the connection and never answers", async () => {
  const stop = new AbortController();
  await withAnswers([() => stop.abort(new Error("enough"))], async (url) => {
    const client = createClient({ baseUrl: url, idleTimeoutMs: Number.POSITIVE_INFINITY });
    await expect(take(client.followEvents("s", { signal: stop.signal }), 1)).rejects.toThrow("enough");
  });
});

test("a connection may be silent for ever where the caller says so", async () => {
  const late = (response: ServerResponse) => {
    stream("retry: 1\n\n", false)(response);
    setTimeout(() => response.write(token(1)), 50);
  };
  await withAnswers([late], async (url) => {
    const client = createClient({ baseUrl: url, idleTimeoutMs: Number.POSITIVE_INFINITY, maxReconnects: 0 });
    expect(await take(client.followEvents("s", { after: 0 }), 1)).toMatchObject([{ id: 1 }]);
  });
});

test("a question is not lost where the server dies before it says whether that was answered", async () => {
  const cut = (response: ServerResponse) => void response.socket?.destroy();
  const page = (response: ServerResponse) =>
    response.setHeader("content-type", "application/json").end('{"events":[]}');
  const question = `${token(1)}id: 2\nevent: interrupt\ndata: {"interrupts":[]}\n\n`;
  await withAnswers([stream(question), ...Array(5).fill(cut), page], async (url) => {
    const events = createClient({ baseUrl: url, wait: async () => {} }).followRun("s", "r");
    expect(await take(events, 9)).toMatchObject([{ id: 1 }, { id: 2, event: "interrupt" }]);
  });
});

test.each(["<html>", "null"])("what is no event is told as an unexpected answer: %s", async (data) => {
  await withAnswers([stream(`${token(1)}id: 2\nevent: token\ndata: ${data}\n\n`)], async (url) => {
    const events = createClient({ baseUrl: url }).followEvents("s", { after: 0 })[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ value: { id: 1 } });
    await expect(events.next()).rejects.toMatchObject({ code: "unexpected_answer", details: { last_event_id: 1 } });
  });
});

test("after an abort comes no event, though it was received already", async () => {
  await withAnswers([stream(token(1) + token(2) + token(3), false)], async (url) => {
    const stop = new AbortController();
    const seen: SessionEvent[] = [];
    const reading = (async () => {
      const { signal } = stop;
      for await (const event of createClient({ baseUrl: url }).followEvents("s", { after: 0, signal })) {
        seen.push(event);
        stop.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    expect(seen).toMatchObject([{ id: 1 }]);
  });
});

test("a pause until a time is one too, by the server's own clock", async () => {
  const waits: number[] = [];
  const date = "Wed, 21 Oct 2015 07:28:00 GMT";
  const busy = problem(503, "storage_unavailable", { date, "retry-after": "Wed, 21 Oct 2015 07:28:09 GMT" });
  await withAnswers([busy, stream(token(1))], async (url) => {
    const client = createClient({ baseUrl: url, random: () => 0, wait: async (ms) => void waits.push(ms) });
    await take(client.followEvents("s", { after: 0 }), 1);
  });
  expect(waits).toEqual([9000]);
});

test("a token that can't be renewed while the network is away does not end a stream", async () => {
  let asked = 0;
  const token_ = async () => {
    asked += 1;
    if (asked === 2) throw new TypeError("fetch failed");
    if (asked === 4) throw new Error("log in again");
    return "t";
  };
  await withAnswers([stream(token(1)), stream(token(2))], async (url) => {
    const client = createClient({ baseUrl: url, token: token_, wait: async () => {} });
    const events = client.followEvents("s", { after: 0 })[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ value: { id: 1 } });
    expect(await events.next()).toMatchObject({ value: { id: 2 } });
    await expect(events.next()).rejects.toThrow("log in again");
  });
});
