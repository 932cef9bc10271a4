import { AppError } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { createApiKeys } from "../../src/http/auth/api-keys.ts";
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
