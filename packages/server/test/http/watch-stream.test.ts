import { AppError } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { createApiKeys } from "../../src/http/auth/api-keys.ts";
import { streamOf, streamResponse } from "../../src/http/event-stream.ts";
import type { Caller } from "../../src/http/guard.ts";
import { watchStream } from "../../src/http/watch-stream.ts";
import { readEvents } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";
import { until } from "./until.ts";

const STREAM = { Accept: "text/event-stream" };
const RECHECK_S = 0.1;

let storage: Storage;
beforeEach(async () => {
  storage = await openStorage("memory");
});
afterEach(() => storage.close());

function start() {
  const config = defaultConfig();
  const auth = { ...config.auth, mode: "api_key" as const, recheck_interval: RECHECK_S };
  return startTestServer({ storage, config: { ...config, auth } });
}

describe("an open stream", () => {
  it("of a session, of a run and of a message ends when its key is revoked; the run goes on", async () => {
    const server = await start();
    const keys = createApiKeys(storage.apiKeys);
    const mine = await keys.create({ name: "mine", scope: null });
    const other = await keys.create({ name: "other", scope: null });
    const as = ({ key }: { key: string }) => ({ ...STREAM, "X-API-Key": key });
    const { id } = await server.createSession({}, as(mine));
    const json = { content: "Run the command: sleep 30" };
    const sent = await server.fetch(`/sessions/${id}/messages`, { method: "POST", json, headers: as(mine) });
    const run = sent.headers.get("Content-Location") ?? "";
    const streams = [
      sent,
      await server.fetch(`/sessions/${id}/events?after=0`, { headers: as(mine) }),
      await server.fetch(`${run}/events?after=0`, { headers: as(mine) }),
    ];
    const stays = await server.fetch(`/sessions/${id}/events?after=0`, { headers: as(other) });
    await keys.revoke(mine.api_key.id);
    for (const events of await Promise.all(streams.map((stream) => readEvents(stream)))) {
      expect(events.map(({ event }) => event)).not.toContain("done");
    }
    const again = await server.fetch(`/sessions/${id}/events`, { headers: as(mine) });
    expect(await again.json()).toMatchObject({ code: "unauthorized", detail: expect.stringContaining("was revoked") });
    expect(await (await server.fetch(run, { headers: { "X-API-Key": other.key } })).json()).toMatchObject({
      status: "running",
    });
    await server.fetch(`/sessions/${id}/abort`, { method: "POST", headers: as(other) });
    const rest = await readEvents(stays, (events) => events.at(-1)?.event === "done");
    expect(rest.at(-1)?.data).toMatchObject({ status: "aborted" });
    await until("nothing left open", async () => (server.server.runtime.http.streams.open <= 1 ? true : undefined));
  });

  it("stays while the storage can't be asked, and while the credential is good", async () => {
    const server = await start();
    const { key } = await createApiKeys(storage.apiKeys).create({ name: "good", scope: null });
    const { id } = await server.createSession({}, { "X-API-Key": key });
    const find = storage.apiKeys.findApiKey;
    let asked = 0;
    storage.apiKeys.findApiKey = async (prefix) => {
      asked++;
      if (asked % 2 === 0) throw new AppError("storage_unavailable", "away");
      return find(prefix);
    };
    const stream = await server.fetch(`/sessions/${id}/events`, { headers: { ...STREAM, "X-API-Key": key } });
    await until("several looks", async () => (asked > 5 ? true : undefined));
    expect(server.server.runtime.http.streams.open).toBe(1);
    await stream.body?.cancel();
    await until("its end", async () => (server.server.runtime.http.streams.open === 0 ? true : undefined));
  });
});

/** A stream that says nothing, watched by whoever answers `authenticate`. */
function watched(caller: Caller, authenticate: () => Promise<Caller>) {
  const ending = Promise.withResolvers<void>();
  const source = {
    ended: ending.promise,
    next: () => new Promise<never>(() => undefined),
    return: async () => {
      ending.resolve();
      return { done: true as const, value: undefined };
    },
  };
  const options = { heartbeat_ms: 60_000, stall_ms: 60_000, onError: () => undefined };
  const stream = streamOf(streamResponse(source, options));
  if (!stream) throw new Error("no stream");
  watchStream(stream, { authenticate, headers: new Headers(), caller, every_ms: 1 });
  return source;
}

describe("what watches a stream", () => {
  it("ends one whose credential now stands for somebody else", async () => {
    const { ended } = watched({ scope: { user: "ann" }, admin: true }, async () => ({
      scope: { user: "ann" },
      admin: false,
    }));
    await ended;
  });

  it("looks no more once the stream has ended, also where it was just looking", async () => {
    const caller = { admin: false };
    const looking = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Caller>();
    let looks = 0;
    const source = watched(caller, () => {
      looks++;
      looking.resolve();
      return answer.promise;
    });
    const other = Promise.withResolvers<void>();
    let others = 0;
    await looking.promise;
    await source.return();
    answer.resolve(caller);
    // Another stream's tenth look is later than a second one of this would be.
    const beside = watched(caller, async () => {
      if (++others === 10) other.resolve();
      return caller;
    });
    await other.promise;
    await beside.return();
    expect(looks).toBe(1);
  });
});
