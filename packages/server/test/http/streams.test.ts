import type { Run } from "@cognition/contract";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { problemOf } from "./problem-of.ts";
import { idsOf, namesOf, readEvents, readFrames, type SeenEvent } from "./read-events.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

const STREAM = { Accept: "text/event-stream" };

async function say({ fetch }: TestServer, session_id: string, content = "Hello") {
  return readEvents(await fetch(`/sessions/${session_id}/messages`, { method: "POST", json: { content } }));
}

async function lastRun({ storage }: TestServer, session_id: string): Promise<Run> {
  return (await storage.listRuns(session_id, { limit: 1 }))[0] as Run;
}

describe("following a session", () => {
  it("says when to come back, then what comes next, over runs; each event as the log has it", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    await say(server, id);
    const head = await server.storage.lastEventId(id);
    const response = await server.fetch(`/sessions/${id}/events`, { headers: STREAM });
    expect(response.headers.get("Content-Type")).toBe("text/event-stream; charset=utf-8");
    const frames = readFrames(response.body as never)[Symbol.asyncIterator]();
    expect((await frames.next()).value).toEqual({ retry: "3000", id: String(head) });
    const next = frames.next();
    await say(server, id, "Again");
    expect((await next).value).toMatchObject({ id: String(head + 1), event: "status" });
    await frames.return(undefined);
    const all = await readEvents(
      await server.fetch(`/sessions/${id}/events?after=0`, { headers: STREAM }),
      (events) => events.filter(({ event }) => event === "done").length === 2,
    );
    const log = (await server.storage.readEvents({ session_id: id, limit: 1000 })).events;
    expect(all).toEqual(log.map(({ id, event, data }) => ({ id, event, data })));
  });

  it("is JSON for whoever does not ask for a stream, by page and type", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const seen = await say(server, id);
    const read = async (query: string) =>
      (await (await server.ask(`/sessions/${id}/events?${query}`)).json()) as {
        events: SeenEvent[];
        has_more: boolean;
      };
    expect(idsOf((await read("limit=1000")).events)).toEqual(idsOf(seen));
    expect(await read("after=1&limit=2")).toMatchObject({ events: [{ id: 2 }, { id: 3 }], has_more: true });
    expect(namesOf((await read("type=done,usage")).events)).toEqual(["usage", "done"]);
    expect(namesOf((await read("type=done&type=usage")).events)).toEqual(["usage", "done"]);
    expect(namesOf((await read("type=done,usage&type=head_moved")).events)).toEqual(["usage", "done"]);
    expect(await problemOf(server.ask(`/sessions/${id}/events?type=nothing`))).toMatchObject({ status: 422 });
  });

  it("sends only the types that were asked for", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    await say(server, id);
    const stream = await server.fetch(`/sessions/${id}/events?after=0&type=usage,done`, { headers: STREAM });
    expect(namesOf(await readEvents(stream, (events) => events.length === 2))).toEqual(["usage", "done"]);
  });

  it("tells a client that comes back what it missed, and one from the future where the log ends", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const seen = await say(server, id);
    const head = seen.length;
    const follow = (last: string) =>
      server.fetch(`/sessions/${id}/events?after=0`, { headers: { ...STREAM, "Last-Event-ID": last } });
    const missed = await readEvents(await follow("3"), (events) => events.at(-1)?.id === head);
    expect(missed[0]).toEqual({
      id: undefined,
      event: "reconnected",
      data: { last_event_id: 3, replayed: head - 3, folded: false },
    });
    expect(missed.slice(1)).toEqual(seen.slice(3));
    const future = readEvents(await follow(String(head + 5)), (events) => events.length === 2);
    await say(server, id, "Again");
    expect(await future).toMatchObject([{ event: "reset", data: { head } }, { id: head + 1 }]);
    expect(await problemOf(follow("abc"))).toMatchObject({ errors: [{ loc: ["header"] }] });
  });

  it("says so when what was missed has been folded meanwhile", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const seen = await say(server, id);
    await server.storage.compactEvents(new Date(Date.now() + 60_000));
    const last = seen.findIndex(({ event }) => event === "token") + 1;
    const headers = { ...STREAM, "Last-Event-ID": String(last) };
    const events = await readEvents(
      await server.fetch(`/sessions/${id}/events`, { headers }),
      (events) => events.at(-1)?.event === "done",
    );
    expect(events[0]).toMatchObject({ event: "reconnected", data: { folded: true, replayed: events.length - 1 } });
    expect(events.find(({ event }) => event === "token")?.data["folded_from"]).toBeLessThanOrEqual(last);
  });

  it("beats while nothing happens, and ends when the session is deleted", async () => {
    const server = await startTestServer({ heartbeat_s: 0.05 });
    const { id } = await server.createSession();
    const response = await server.fetch(`/sessions/${id}/events`, { headers: STREAM });
    const frames = readFrames(response.body as never)[Symbol.asyncIterator]();
    await frames.next();
    expect((await frames.next()).value).toEqual({ "": "heartbeat" });
    expect((await frames.next()).value).toEqual({ "": "heartbeat" });
    await server.ask(`/sessions/${id}`, { method: "DELETE" });
    for (let step = await frames.next(); !step.done; step = await frames.next())
      expect(step.value).toHaveProperty([""]);
    expect((await server.fetch(`/sessions/${id}/events`, { headers: STREAM })).status).toBe(404);
  });

  it("ends at once, with the position to go on from elsewhere, on a node that is shutting down", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const seen = await say(server, id);
    server.server.runtime.http.close();
    const response = await server.fetch(`/sessions/${id}/events`, { headers: STREAM });
    expect(await response.text()).toBe(`retry: 3000\nid: ${seen.length}\n\n`);
    expect(server.server.runtime.http.streams.open).toBe(0);
  });

  it("answers HEAD without a stream", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const response = await server.fetch(`/sessions/${id}/events`, { method: "HEAD", headers: STREAM });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

describe("following a run", () => {
  it("ends with the run; coming back after that is 204, with a position before it the rest", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    await say(server, id);
    const seen = await say(server, id, "Again");
    const run = await lastRun(server, id);
    const path = `/sessions/${id}/runs/${run.id}/events`;
    expect(await readEvents(await server.fetch(`${path}?after=0`))).toEqual(seen);
    const last = seen.at(-1)?.id ?? 0;
    const follow = (id: number) => server.fetch(`${path}?after=0`, { headers: { "Last-Event-ID": String(id) } });
    expect((await follow(last)).status).toBe(204);
    expect((await server.fetch(path)).status).toBe(204);
    const rest = await readEvents(await follow(last - 2));
    expect(rest[0]).toMatchObject({ event: "reconnected", data: { replayed: 2 } });
    expect(rest.slice(1)).toEqual(seen.slice(-2));
    expect(await problemOf(server.ask(`/sessions/${id}/runs/none/events`))).toMatchObject({ code: "run_not_found" });
    const { id: other } = await server.createSession();
    expect(await problemOf(server.ask(`/sessions/${other}/runs/${run.id}`))).toMatchObject({ code: "run_not_found" });
  });

  it.each([{}, { "Last-Event-ID": "999999" }])(
    "ends with a run that ends while it is looked up: %j",
    async (headers) => {
      const server = await startTestServer();
      const { id } = await server.createSession();
      const accepted = await server.ask(`/sessions/${id}/messages`, {
        method: "POST",
        json: { content: "Run the command: sleep 100" },
        headers: { Prefer: "respond-async" },
      });
      const { id: run_id } = (await accepted.json()) as Run;
      const read = server.storage.getRun;
      const looked = vi.spyOn(server.storage, "getRun").mockImplementationOnce(async (...args) => {
        const run = await read(...args);
        await server.ask(`/sessions/${id}/abort`, { method: "POST" });
        await vi.waitUntil(async () => (await lastRun(server, id)).status === "aborted", { timeout: 50_000 });
        return run;
      });
      onTestFinished(() => looked.mockRestore());
      const stream = await server.fetch(`/sessions/${id}/runs/${run_id}/events`, { headers });
      expect((await readEvents(stream)).at(-1)).toMatchObject({ event: "done", data: { status: "aborted" } });
    },
  );

  it("closes at the run's end for whoever asked for other types, and is 204 for him afterwards", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const seen = await say(server, id);
    const { id: run_id } = await lastRun(server, id);
    const follow = (headers: Record<string, string> = {}) =>
      server.fetch(`/sessions/${id}/runs/${run_id}/events?after=0&type=token`, { headers });
    const tokens = await readEvents(await follow());
    expect(tokens).toEqual(seen.filter(({ event }) => event === "token"));
    expect((await follow({ "Last-Event-ID": String(tokens.at(-1)?.id) })).status).toBe(204);
  });

  it("takes no more steps than its agent may, unless its session says so", async () => {
    const server = await startTestServer();
    await server.ask("/agents", {
      method: "POST",
      json: { name: "short", system_prompt: "Be brief", config: { recursion_limit: 1 } },
    });
    const { id } = await server.createSession({ agent_name: "short" });
    await say(server, id);
    expect((await lastRun(server, id)).error).toMatchObject({ code: "recursion_limit" });
    const other = await server.createSession({ agent_name: "short", config: { recursion_limit: 100 } });
    await say(server, other.id);
    expect((await lastRun(server, other.id)).error).toBeNull();
  });

  it("that took too many steps says which setting to raise, and goes on once that is done", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession({ config: { recursion_limit: 1 } });
    const seen = await say(server, id);
    const { error } = await lastRun(server, id);
    expect(error).toMatchObject({ code: "recursion_limit", message: expect.stringContaining("recursion_limit") });
    expect(seen.find(({ event }) => event === "error")?.data).toMatchObject(error ?? {});
    await server.ask(`/sessions/${id}`, { method: "PATCH", json: { config: { recursion_limit: 100 } } });
    const resumed = await server.fetch(`/sessions/${id}/resume`, { method: "POST" });
    expect(await resumed.json()).toMatchObject({ status: "succeeded" });
  });
});

describe("a message", () => {
  it("goes on when its client is gone", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const leave = new AbortController();
    const response = await server.fetch(`/sessions/${id}/messages`, {
      method: "POST",
      json: { content: "Run the command: sleep 0.3" },
      signal: leave.signal,
    });
    leave.abort();
    await expect(response.text()).rejects.toThrow();
    const run = await lastRun(server, id);
    const rest = await readEvents(await server.fetch(`/sessions/${id}/runs/${run.id}/events?after=0`));
    expect(rest.at(-1)).toMatchObject({ event: "done", data: { status: "succeeded" } });
  });

  it.each(["messages", "resume"])("is not taken with a position that is none: %s", async (route) => {
    const server = await startTestServer();
    const { id } = await server.createSession({ config: { recursion_limit: 1 } });
    const seen = await say(server, id);
    const headers = { ...STREAM, "Last-Event-ID": "abc" };
    const json = route === "messages" ? { content: "Hello" } : {};
    const refused = await problemOf(server.ask(`/sessions/${id}/${route}`, { method: "POST", json, headers }));
    expect(refused).toMatchObject({ status: 422, code: "validation_failed" });
    expect([await server.storage.lastEventId(id), (await server.storage.listRuns(id)).length]).toEqual([
      seen.length,
      1,
    ]);
  });

  it("gives all of its run to a client from the future", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const { length } = await say(server, id);
    const json = { content: "Again" };
    const headers = { "Last-Event-ID": "999999" };
    const seen = await readEvents(await server.fetch(`/sessions/${id}/messages`, { method: "POST", json, headers }));
    expect(seen[0]).toEqual({ event: "reset", data: { head: length } });
    expect(idsOf(seen.slice(1))).toEqual(seen.slice(1).map((_, index) => length + 1 + index));
    expect(seen.at(-1)?.event).toBe("done");
  });

  it("is joined again by its idempotency key, from the last event seen, and never sent twice", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    await say(server, id, "Before");
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const send = (more: Record<string, string> = {}, content = "Hello") =>
      server.fetch(`/sessions/${id}/messages`, { method: "POST", json: { content }, headers: { ...headers, ...more } });
    const cut = await readEvents(await send(), (events) => events.length === 4);
    const last = cut.at(-1)?.id ?? 0;
    const rest = await readEvents(await send({ "Last-Event-ID": String(last) }));
    expect(rest[0]).toMatchObject({ event: "reconnected", data: { last_event_id: last } });
    expect(rest.at(-1)?.event).toBe("done");
    const whole = await readEvents(await send());
    expect([...cut, ...rest.slice(1)]).toEqual(whole);
    const seen = await send({ "Last-Event-ID": String(whole.at(-1)?.id) });
    expect([seen.status, seen.headers.get("Content-Location")]).toEqual([204, expect.stringContaining("/runs/")]);
    expect((await server.storage.listRuns(id)).length).toBe(2);
    expect(await problemOf(send({}, "Other"))).toMatchObject({ status: 422, code: "idempotency_mismatch" });
  });

  it("answers with the run where asked to: at once, or at its end", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const send = (headers: Record<string, string>) =>
      server.fetch(`/sessions/${id}/messages`, { method: "POST", json: { content: "Hello" }, headers });
    const accepted = await send({ Prefer: "wait=5, respond-async; foo=1" });
    const run = (await accepted.json()) as Run;
    expect([accepted.status, accepted.headers.get("Content-Location")]).toEqual([
      202,
      `/sessions/${id}/runs/${run.id}`,
    ]);
    const ended = await send({ Accept: "application/json" });
    expect([ended.status, ((await ended.json()) as Run).status]).toEqual([200, "succeeded"]);
    expect((await send({ Accept: "*/*" })).headers.get("Content-Type")).toContain("text/event-stream");
  });

  it("is refused with every reason there is, and nothing is kept", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const send = (json: unknown, to = id) => server.ask(`/sessions/${to}/messages`, { method: "POST", json });
    const nobody = "00000000-0000-7000-8000-000000000000";
    expect(await problemOf(send({ content: "x" }, nobody))).toMatchObject({ status: 404, code: "session_not_found" });
    for (const body of [{}, { content: "" }, { content: 1 }, { content: [{}] }, { content: "x", on_busy: "?" }]) {
      expect(await problemOf(send(body)), JSON.stringify(body)).toMatchObject({
        status: 422,
        code: "validation_failed",
      });
    }
    const large = await problemOf(send({ content: "x".repeat(1024 * 1024 + 1) }));
    expect(large).toMatchObject({ status: 413, code: "content_too_large" });
    expect(await problemOf(send({ content: "x", callback_url: "ftp://x" }))).toMatchObject({ status: 422 });
    expect(await problemOf(send({ content: "x", callback_url: "http://127.0.0.1/" }))).toMatchObject({
      code: "callback_url_refused",
    });
    expect(await problemOf(send({ content: "x", parent_id: "none" }))).toMatchObject({
      errors: [{ loc: ["body", "parent_id"] }],
    });
    expect(await server.storage.listRuns(id)).toEqual([]);
    expect(await server.storage.listMessagesForSession(id)).toEqual([]);
  });

  it("waits its turn, is refused, or takes over while another runs", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    const send = (on_busy: string, content = "Hello") =>
      server.ask(`/sessions/${id}/messages`, {
        method: "POST",
        json: { content, on_busy },
        headers: { Prefer: "respond-async" },
      });
    await send("enqueue", "Run the command: sleep 30");
    const refused = await problemOf(send("reject"));
    expect(refused).toMatchObject({ status: 409, code: "session_busy" });
    expect((await send("enqueue")).status).toBe(202);
    const taken = (await (await send("interrupt")).json()) as Run;
    await readEvents(await server.fetch(`/sessions/${id}/runs/${taken.id}/events?after=0`));
    expect((await server.storage.listRuns(id)).map(({ status }) => status)).toEqual([
      "succeeded",
      "aborted",
      "aborted",
    ]);
  });
});

describe("messages and runs", () => {
  it("are listed by page, order, role and status, and read one by one", async () => {
    const server = await startTestServer();
    const { id } = await server.createSession();
    for (const content of ["one", "two"]) await say(server, id, content);
    type Page = { messages: { id: string; role: string; content: string }[]; total: number; has_more: boolean };
    const list = async (query: string) =>
      (await (await server.ask(`/sessions/${id}/messages?${query}`)).json()) as Page;
    const newest = await list("");
    expect(newest).toMatchObject({ total: 4, has_more: false });
    expect(newest.messages.map(({ role }) => role)).toEqual(["assistant", "user", "assistant", "user"]);
    expect((await list("order=asc&limit=1")).messages).toMatchObject([{ role: "user", content: "one" }]);
    expect(await list("role=user&limit=1")).toMatchObject({ total: 2, has_more: true, messages: [{ content: "two" }] });
    const message = newest.messages[0];
    expect(await (await server.ask(`/sessions/${id}/messages/${message?.id}`)).json()).toEqual(message);
    const none = server.ask(`/sessions/${id}/messages/none`);
    expect(await problemOf(none)).toMatchObject({ status: 404, code: "message_not_found" });
    expect(await problemOf(server.ask(`/sessions/${id}/messages?limit=501`))).toMatchObject({ status: 422 });
    const rebuilt = await server.ask(`/sessions/${id}/messages/rebuild`, { method: "POST" });
    expect(await rebuilt.json()).toEqual({ checked: 4, repaired: 0, added: 0, removed: 0 });
    const runs = async (query: string) => (await server.ask(`/sessions/${id}/runs?${query}`)).json();
    expect(await runs("limit=1")).toMatchObject({ runs: [{ status: "succeeded" }], total: 2, has_more: true });
    expect(await runs("status=failed")).toEqual({ runs: [], total: 0, has_more: false });
  });
});
