import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { EventSource } from "eventsource";
import { describe, expect, it, onTestFinished } from "vitest";
import { idsOf, readEvents, type SeenEvent } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";

const STREAM = { Accept: "text/event-stream" };

describe("a socket that is cut", () => {
  it("at every event of a run, the parts join to what the log has", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const first = await server.fetch(`/sessions/${id}/messages`, { method: "POST", json: { content: "Hello" } });
    const whole = await readEvents(first);
    const path = `/sessions/${id}/events`;
    for (let cut = 1; cut < whole.length; cut++) {
      const before = await readEvents(
        await server.fetch(`${path}?after=0`, { headers: STREAM }),
        (events) => events.length === cut,
      );
      const headers = { ...STREAM, "Last-Event-ID": String(before.at(-1)?.id) };
      const after = await readEvents(
        await server.fetch(path, { headers }),
        (events) => events.at(-1)?.id === whole.length,
      );
      expect(after[0], `cut after ${cut}`).toMatchObject({
        event: "reconnected",
        data: { last_event_id: cut, replayed: whole.length - cut },
      });
      expect([...before, ...after.slice(1)], `cut after ${cut}`).toEqual(whole);
    }
  });

  it("while the run is at work, each time after one event, nothing is lost or doubled", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const accepted = await server.fetch(`/sessions/${id}/messages`, {
      method: "POST",
      json: { content: "Make a todo list with three steps and work it off" },
      headers: { Prefer: "respond-async" },
    });
    const run = (await accepted.json()) as { id: string };
    const path = `/sessions/${id}/runs/${run.id}/events?after=0`;
    const seen: SeenEvent[] = [];
    for (let done = false; !done; ) {
      const last = seen.at(-1)?.id;
      const headers = last === undefined ? {} : { "Last-Event-ID": String(last) };
      const part = await readEvents(await server.fetch(path, { headers }), (events) => idsOf(events).length === 1);
      seen.push(...part.filter(({ id }) => id !== undefined));
      done = seen.at(-1)?.event === "done";
    }
    const log = (await server.storage.readEvents({ session_id: id, limit: 1000 })).events;
    expect(seen).toEqual(log.map(({ id, event, data }) => ({ id, event, data })));
    const headers = { "Last-Event-ID": String(seen.at(-1)?.id) };
    expect((await server.fetch(path, { headers })).status).toBe(204);
  });
});

describe("clients that were not written for this", () => {
  it("EventSource comes back by itself after a cut, and stops at the run's end", async () => {
    const server = await startTestServer({ retry_ms: 20 });
    const { id } = await server.createSession();
    const first = await server.fetch(`/sessions/${id}/messages`, { method: "POST", json: { content: "Hello" } });
    const whole = await readEvents(first);
    const [run] = await server.storage.listRuns(id);
    const url = await startCuttingProxy(server.server.port, 1000);
    const source = new EventSource(`${url}/sessions/${id}/runs/${run?.id}/events?after=0`);
    onTestFinished(() => source.close());
    const ids: number[] = [];
    const reconnected: unknown[] = [];
    for (const type of new Set(whole.map(({ event }) => event))) {
      source.addEventListener(type, (event) => ids.push(Number(event.lastEventId)));
    }
    source.addEventListener("reconnected", (event) => reconnected.push(JSON.parse(event.data)));
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) resolve();
    });
    await closed;
    expect(ids).toEqual(idsOf(whole));
    expect(reconnected).toMatchObject([{ replayed: expect.any(Number), folded: false }]);
  });

  it("curl reads a stream as it comes, and goes on where it was", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const url = `${server.server.url}/sessions/${id}`;
    const said = await curl(["-N", "-X", "POST", `${url}/messages`, "-d", '{"content": "Hello"}']);
    expect(said.startsWith("retry: 3000\nid: 0\n\nid: 1\nevent: status\ndata: {")).toBe(true);
    const head = said.match(/^event: /gm)?.length ?? 0;
    const headers = ["-H", "Accept: text/event-stream", "-H", `Last-Event-ID: ${head - 1}`];
    const again = await curl(["-N", ...headers, `${url}/events`], /^event: done\ndata: .*\n\n/m);
    expect(again).toMatch(new RegExp(`^retry: 3000\n\nevent: reconnected\ndata: .*\n\nid: ${head}\nevent: done\n`));
  });
});

/** What it wrote until it ended by itself, or had written enough. */
async function curl(args: string[], enough?: RegExp): Promise<string> {
  const child = spawn("curl", ["-s", ...args], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill());
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    if (enough?.test(text)) child.kill();
  });
  await once(child, "close");
  return text;
}

/** Passes bytes on; cuts the first connection once the server has said so many. */
async function startCuttingProxy(port: number, cutAfter: number): Promise<string> {
  const sockets = new Set<Socket>();
  let left = cutAfter;
  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    client.pipe(upstream);
    upstream
      .on("end", () => client.end())
      .on("data", (bytes: Buffer) => {
        if (left <= 0) client.write(bytes);
        else if (bytes.length < left) client.write(bytes);
        else client.write(bytes.subarray(0, left), () => client.destroy());
        left -= bytes.length;
      });
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
}
