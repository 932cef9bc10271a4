import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApiKeys } from "../../../src/http/auth/api-keys.ts";
import { createAuthenticator } from "../../../src/http/auth/authenticator.ts";
import { until } from "../until.ts";

let storage: Storage;
let now = new Date("2030-01-01T00:00:00.000Z");
const problems: unknown[] = [];

beforeEach(async () => {
  storage = await openStorage("memory");
  now = new Date("2030-01-01T00:00:00.000Z");
  problems.length = 0;
});
afterEach(() => storage.close());

function authenticate(headers: Record<string, string>) {
  const { apiKeys } = storage;
  const onError = (error: unknown) => problems.push(error);
  return createAuthenticator({ mode: "api_key", apiKeys, clock: () => now, fetch, onError })(new Headers(headers));
}

describe("API keys", () => {
  it("are shown once, and neither the list nor the database holds them", async () => {
    const { key, api_key } = await createApiKeys(storage.apiKeys).create({ name: "ci", scope: { user: "ann" } });
    expect(key).toMatch(/^cog_[0-9a-f]{10}_[A-Za-z0-9_-]{43}$/);
    expect(api_key).toMatchObject({ prefix: key.slice(0, 14), name: "ci", scope: { user: "ann" }, admin: false });
    const secret = key.slice(15);
    const kept = JSON.stringify([
      await storage.apiKeys.findApiKey(api_key.prefix),
      await storage.apiKeys.listApiKeys(),
    ]);
    expect(kept).toContain(api_key.prefix);
    expect(kept).not.toContain(secret);
  });

  it("say who asks, in either header", async () => {
    const keys = createApiKeys(storage.apiKeys);
    const bound = await keys.create({ name: "bound", scope: { user: "ann" } });
    const admin = await keys.create({ name: "admin", scope: null, admin: true });
    const ann = { scope: { user: "ann" }, admin: false };
    expect(await authenticate({ Authorization: `Bearer ${bound.key}` })).toEqual(ann);
    expect(await authenticate({ authorization: `bearer  ${bound.key} ` })).toEqual(ann);
    expect(await authenticate({ "X-API-Key": bound.key })).toEqual(ann);
    expect(await authenticate({ "X-API-Key": admin.key, Authorization: `Bearer ${admin.key}` })).toEqual({
      admin: true,
    });
  });

  it("anything else is refused as unauthorized, and what was sent is not in the answer", async () => {
    const { key } = await createApiKeys(storage.apiKeys).create({ name: "ci", scope: null });
    const { key: other } = await createApiKeys(storage.apiKeys).create({ name: "other", scope: null });
    const changed = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
    const refused: [Record<string, string>, RegExp][] = [
      [{}, /needs a credential/],
      [{ Authorization: `Basic ${btoa(`ann:${key}`)}` }, /form "Bearer/],
      [{ Authorization: "Bearer" }, /form "Bearer/],
      [{ Authorization: `Bearer ${key} ${key}` }, /form "Bearer/],
      [{ "X-API-Key": changed }, /no such API key/],
      [{ "X-API-Key": `cog_0000000000_${key.slice(15)}` }, /no such API key/],
      [{ "X-API-Key": key.slice(0, 14) }, /not an API key/],
      [{ "X-API-Key": `${key}A` }, /not an API key/],
      [{ "X-API-Key": "x".repeat(9000) }, /limit of 8192/],
      [{ "X-API-Key": key, Authorization: `Bearer ${other}` }, /two credentials/],
    ];
    for (const [headers, message] of refused) {
      const error = await authenticate(headers).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "unauthorized", message: expect.stringMatching(message) });
      for (const secret of [key.slice(15), "xxxx"])
        expect(JSON.stringify([error.message, error.details])).not.toContain(secret);
    }
  });

  it("end when they are revoked or expire", async () => {
    const keys = createApiKeys(storage.apiKeys);
    const revoked = await keys.create({ name: "a", scope: null });
    const expires_at = "2030-01-01T00:00:10.000Z";
    const brief = await keys.create({ name: "b", scope: null, expires_at });
    await keys.revoke(revoked.api_key.prefix);
    await expect(authenticate({ "X-API-Key": revoked.key })).rejects.toMatchObject({
      message: expect.stringMatching(/was revoked at/),
    });
    expect(await authenticate({ "X-API-Key": brief.key })).toEqual({ admin: false });
    now = new Date(expires_at);
    const late = authenticate({ "X-API-Key": brief.key });
    await expect(late).rejects.toMatchObject({ code: "unauthorized", message: expect.stringContaining(expires_at) });
  });

  it("note when they were used, at most once a minute, and a failure to note it fails no request", async () => {
    const { key, api_key } = await createApiKeys(storage.apiKeys).create({ name: "a", scope: null });
    const touched: string[] = [];
    const apiKeys = {
      ...storage.apiKeys,
      touchApiKey: async (id: string) => {
        touched.push(id);
        if (touched.length > 1) throw new Error("no room");
        await storage.apiKeys.touchApiKey(id);
      },
    };
    const onError = (error: unknown) => problems.push(error);
    const check = createAuthenticator({ mode: "api_key", apiKeys, clock: () => now, fetch, onError });
    const headers = new Headers({ "X-API-Key": key });
    await check(headers);
    now = new Date(now.getTime() + 59_999);
    await check(headers);
    expect(touched).toEqual([api_key.id]);
    await until("the use to be noted", async () => (await storage.apiKeys.listApiKeys())[0]?.last_used_at ?? undefined);
    now = new Date(now.getTime() + 1);
    expect(await check(headers)).toEqual({ admin: false });
    await until("the failure to be reported", async () => problems[0]);
    expect(problems).toEqual([new Error("no room")]);
  });

  it("a name that is none, or a scope that is none, makes no key", async () => {
    const keys = createApiKeys(storage.apiKeys);
    for (const input of [
      { name: "", scope: null },
      { name: "a", scope: { "Not a key": "x" } },
    ]) {
      await expect(keys.create(input)).rejects.toMatchObject({ code: "validation_failed" });
    }
    expect(await keys.list()).toEqual([]);
  });
});

it("without authentication everybody is the owner", async () => {
  const open = createAuthenticator({
    mode: "none",
    apiKeys: storage.apiKeys,
    clock: () => now,
    fetch,
    onError: () => {},
  });
  expect(await open(new Headers({ Authorization: "Bearer whatever" }))).toEqual({ admin: true });
});
