import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CompactSign, exportJWK, type JWTPayload, SignJWT } from "jose";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTokenAuthenticator, type TokenOptions } from "../../../src/http/auth/token-authenticator.ts";

const SECRET = "a secret of thirty-two bytes, or more";
const NOW = new Date("2030-01-01T00:00:00.000Z");
const IN_AN_HOUR = NOW.getTime() / 1000 + 3600;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** What whoever runs the server is told. */
let told: unknown[] = [];
const onError = (error: unknown) => told.push(error);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  told = [];
  for (const close of closing.splice(0)) await close();
});

function pem(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }).toString();
}

function check(token: string, options: TokenOptions = { secret: SECRET }) {
  const authenticate = createTokenAuthenticator({ ...options, clock: () => NOW, fetch, onError });
  return authenticate(new Headers({ Authorization: `Bearer ${token}` }));
}

function sign(claims: JWTPayload, alg = "HS256", key: KeyObject | Uint8Array = Buffer.from(SECRET), kid?: string) {
  return new SignJWT({ exp: IN_AN_HOUR, ...claims }).setProtectedHeader({ alg, ...(kid ? { kid } : {}) }).sign(key);
}

async function serveKeys(keys: readonly KeyObject[]): Promise<{ url: string; hits: () => number }> {
  let hits = 0;
  const entry = async (key: KeyObject, n: number) => ({ ...(await exportJWK(key)), kid: `k${n}`, use: "sig" });
  const server = createServer(async (_, response) => {
    hits++;
    const jwks = { keys: await Promise.all(keys.map(entry)) };
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(jwks));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closing.push(async () => void (await new Promise((resolve) => server.close(resolve))));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`, hits: () => hits };
}

const unauthorized = (message: RegExp) => ({ code: "unauthorized", message: expect.stringMatching(message) });

describe("tokens", () => {
  it("are bound to the scope of their claims", async () => {
    expect(await check(await sign({ cognition_scope: { user: "ann", project: "x" } }))).toEqual({
      scope: { user: "ann", project: "x" },
      admin: false,
    });
    expect(
      await check(await sign({ sub: "ann", org: { id: 7 } }), {
        secret: SECRET,
        scope_claims: { user: "sub", org: "org.id" },
      }),
    ).toEqual({
      scope: { user: "ann", org: "7" },
      admin: false,
    });
    const claimed = { sub: "ann", cognition_scope: { user: "bob", org: "x" } };
    expect(await check(await sign(claimed), { secret: SECRET, scope_claims: { user: "sub" } })).toMatchObject({
      scope: { user: "ann", org: "x" },
    });
    const url = "https://example.com/scope";
    expect(await check(await sign({ [url]: { user: "bob" } }), { secret: SECRET, scope_claim: url })).toMatchObject({
      scope: { user: "bob" },
    });
  });

  it("make an administrator only of whom they call one", async () => {
    expect(await check(await sign({ cognition_admin: true }))).toEqual({ admin: true });
    expect(await check(await sign({ cognition_admin: "true" }))).toEqual({ admin: false });
    const roles = { secret: SECRET, admin_claim: "realm.roles", admin_value: "operator" };
    expect(await check(await sign({ realm: { roles: ["user", "operator"] } }), roles)).toEqual({ admin: true });
    expect(await check(await sign({ realm: { roles: ["user"] } }), roles)).toEqual({ admin: false });
  });

  it("without a scope they are refused where scoping is on, unless they are an administrator's", async () => {
    const scoped = { secret: SECRET, scope_required: true };
    await expect(check(await sign({}), scoped)).rejects.toMatchObject({ code: "forbidden" });
    await expect(check(await sign({ cognition_scope: {} }), scoped)).rejects.toMatchObject({ code: "forbidden" });
    expect(await check(await sign({ cognition_admin: true }), scoped)).toEqual({ admin: true });
  });

  it("with a claim that is no scope, or one missing, they are refused", async () => {
    await expect(check(await sign({ cognition_scope: "read write" }))).rejects.toMatchObject(
      unauthorized(/not a scope/),
    );
    await expect(check(await sign({ cognition_scope: { User: "ann" } }))).rejects.toMatchObject(
      unauthorized(/not a scope/),
    );
    const bySub = { secret: SECRET, scope_claims: { user: "sub" } };
    for (const claims of [{}, { sub: "" }]) {
      await expect(check(await sign(claims), bySub)).rejects.toMatchObject(unauthorized(/lacks the claim sub/));
    }
  });

  it("with a number that JSON does not keep exactly they are refused: two users would be one", async () => {
    const byId = { secret: SECRET, scope_claims: { user: "id" } };
    expect(await check(await sign({ id: 9_007_199_254_740_991 }), byId)).toMatchObject({
      scope: { user: "9007199254740991" },
    });
    for (const id of [9_007_199_254_740_992, 1_234_567_890_123_456_789n, 1e21, 0.1]) {
      const payload = `{"exp":${IN_AN_HOUR},"id":${id}}`;
      const token = await new CompactSign(Buffer.from(payload))
        .setProtectedHeader({ alg: "HS256" })
        .sign(Buffer.from(SECRET));
      await expect(check(token, byId), payload).rejects.toMatchObject(unauthorized(/claim id .*text/));
    }
  });

  it("unsigned, forged, altered, expired, early or foreign ones are refused", async () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { exp: IN_AN_HOUR, cognition_admin: true };
    const good = await sign({});
    const [header, , signature] = good.split(".");
    const cases: [string, RegExp][] = [
      [`${encode({ alg: "none" })}.${encode(claims)}.`, /does not accept/],
      [`${header}.${encode(claims)}.${signature}`, /can't be verified/],
      [await sign({}, "HS256", Buffer.from("another secret of thirty-two bytes!!")), /can't be verified/],
      [await sign({}, "RS256", rsa.privateKey), /does not accept/],
      ["not.a.token", /can't be verified/],
      ["nonsense", /can't be verified/],
      [await sign({ exp: NOW.getTime() / 1000 - 31 }), /expired/],
      [await sign({ nbf: NOW.getTime() / 1000 + 31 }), /claim "nbf"/],
      [await new SignJWT({}).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(SECRET)), /claim "exp"/],
    ];
    for (const [token, message] of cases)
      await expect(check(token), token).rejects.toMatchObject(unauthorized(message));
    expect(await check(await sign({ exp: NOW.getTime() / 1000 - 29 }))).toEqual({ admin: false });
  });

  it("must name the issuer and the audience that are asked for", async () => {
    const options = { secret: SECRET, issuer: "https://id.example", audience: "cognition" };
    expect(await check(await sign({ iss: "https://id.example", aud: ["other", "cognition"] }), options)).toEqual({
      admin: false,
    });
    const wrong = [{ iss: "https://evil.example", aud: "cognition" }, { iss: "https://id.example", aud: "x" }, {}];
    for (const claims of wrong)
      await expect(check(await sign(claims), options)).rejects.toMatchObject(unauthorized(/claim/));
  });

  it("are checked with a public key, which never serves as a secret", async () => {
    for (const [alg, { privateKey, publicKey }] of [
      ["RS256", rsa],
      ["ES256", ec],
    ] as const) {
      const options = { public_key: pem(publicKey) };
      expect(await check(await sign({}, alg, privateKey), options)).toEqual({ admin: false });
      const confused = await sign({ cognition_admin: true }, "HS256", Buffer.from(pem(publicKey)));
      await expect(check(confused, options)).rejects.toMatchObject(unauthorized(/does not accept/));
    }
    const only = { public_key: pem(rsa.publicKey), algorithms: ["PS256"] };
    await expect(check(await sign({}, "RS256", rsa.privateKey), only)).rejects.toMatchObject(
      unauthorized(/does not accept/),
    );
  });

  it("are checked with the keys that the issuer publishes, fetched once", async () => {
    const { url, hits } = await serveKeys([rsa.publicKey, ec.publicKey]);
    const authenticate = createTokenAuthenticator({ jwks_url: url, clock: () => NOW, fetch, onError });
    const ask = async (token: string) => authenticate(new Headers({ "X-API-Key": token }));
    expect(await ask(await sign({}, "RS256", rsa.privateKey, "k0"))).toEqual({ admin: false });
    expect(await ask(await sign({}, "ES256", ec.privateKey, "k1"))).toEqual({ admin: false });
    await expect(ask(await sign({}, "RS256", rsa.privateKey, "k9"))).rejects.toMatchObject(
      unauthorized(/can't be verified/),
    );
    await expect(ask(await sign({}, "HS256"))).rejects.toMatchObject(unauthorized(/does not accept/));
    expect(hits()).toBe(1);
  });

  it("that name no key are checked with each that fits: while an issuer exchanges its keys there are two", async () => {
    const [old, other] = [rsa, generateKeyPairSync("rsa", { modulusLength: 2048 })];
    const { url } = await serveKeys([old.publicKey, other.publicKey]);
    for (const { privateKey } of [old, other]) {
      expect(await check(await sign({}, "RS256", privateKey), { jwks_url: url })).toEqual({ admin: false });
    }
    const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    await expect(check(await sign({}, "RS256", stranger), { jwks_url: url })).rejects.toMatchObject(
      unauthorized(/can't be verified/),
    );
    const expired = await sign({ exp: NOW.getTime() / 1000 - 31 }, "RS256", other.privateKey);
    await expect(check(expired, { jwks_url: url })).rejects.toMatchObject(unauthorized(/expired/));
  });

  it("an issuer that can't be reached is not the token's fault", async () => {
    const { url } = await serveKeys([]);
    for (const close of closing.splice(0)) await close();
    const token = await sign({}, "RS256", rsa.privateKey, "k0");
    await expect(check(token, { jwks_url: url })).rejects.toMatchObject({ code: "auth_unavailable" });
  });

  it("are checked for an hour with the keys that an issuer had published before it went away", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { url, hits } = await serveKeys([rsa.publicKey]);
    const authenticate = createTokenAuthenticator({ jwks_url: url, clock: () => NOW, fetch, onError });
    const ask = async (kid: string) =>
      authenticate(new Headers({ "X-API-Key": await sign({}, "RS256", rsa.privateKey, kid) }));
    const pass = (minutes: number) => vi.setSystemTime(Date.now() + minutes * 60_000);
    await ask("k0");
    for (const close of closing.splice(0)) await close();
    pass(11);
    expect([await ask("k0"), await ask("k0")]).toEqual([{ admin: false }, { admin: false }]);
    expect(told).toHaveLength(1);
    await expect(ask("new")).rejects.toMatchObject({ code: "auth_unavailable" });
    const expired = await sign({ exp: NOW.getTime() / 1000 - 31 }, "RS256", rsa.privateKey, "k0");
    await expect(authenticate(new Headers({ "X-API-Key": expired }))).rejects.toMatchObject(unauthorized(/expired/));
    pass(48);
    expect(await ask("k0")).toEqual({ admin: false });
    pass(2);
    await expect(ask("k0")).rejects.toMatchObject({ code: "auth_unavailable" });
    expect(hits()).toBe(1);
  });

  it("are checked with what the issuer published last, not with what it had before it first went away", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const next = generateKeyPairSync("rsa", { modulusLength: 2048 });
    let published: KeyObject | undefined = rsa.publicKey;
    const fetchKeys = async () => {
      if (!published) throw new TypeError("fetch failed");
      return Response.json({ keys: [{ ...(await exportJWK(published)), kid: "k0", use: "sig" }] });
    };
    const source = { jwks_url: "https://id.example/keys", fetch: fetchKeys as typeof fetch };
    const authenticate = createTokenAuthenticator({ ...source, clock: () => NOW, onError });
    const ask = async ({ privateKey }: typeof rsa) =>
      authenticate(new Headers({ "X-API-Key": await sign({}, "RS256", privateKey, "k0") }));
    const pass = () => vi.setSystemTime(Date.now() + 11 * 60_000);
    for (const key of [rsa, next]) {
      published = key.publicKey;
      expect(await ask(key)).toEqual({ admin: false });
      published = undefined;
      pass();
      expect(await ask(key)).toEqual({ admin: false });
      pass();
    }
    await expect(ask(rsa)).rejects.toMatchObject(unauthorized(/can't be verified/));
  });

  it("of a key that the issuer has withdrawn are refused as soon as it says so", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const published = [rsa.publicKey];
    const { url } = await serveKeys(published);
    const authenticate = createTokenAuthenticator({ jwks_url: url, clock: () => NOW, fetch, onError });
    const token = await sign({}, "RS256", rsa.privateKey, "k0");
    const ask = () => authenticate(new Headers({ "X-API-Key": token }));
    await ask();
    published.splice(0);
    vi.setSystemTime(Date.now() + 11 * 60_000);
    await expect(ask()).rejects.toMatchObject(unauthorized(/can't be verified/));
  });

  it("a configuration that would check nothing stops the start", () => {
    const wrong: [TokenOptions, RegExp][] = [
      [{}, /exactly one/],
      [{ secret: SECRET, jwks_url: "https://id.example/keys" }, /exactly one/],
      [{ secret: "short" }, /5 bytes/],
      [{ secret: SECRET, algorithms: ["none"] }, /none can't be used/],
      [{ secret: SECRET, algorithms: ["RS256"] }, /RS256 can't be used/],
      [{ secret: SECRET, algorithms: [] }, /can't be used/],
      [{ public_key: pem(rsa.publicKey), algorithms: ["HS256"] }, /HS256 can't be used/],
      [{ public_key: "not a key" }, /PEM/],
      [{ jwks_url: "file:///etc/keys" }, /http/],
    ];
    for (const [options, message] of wrong) {
      const start = () => createTokenAuthenticator({ ...options, clock: () => NOW, fetch, onError });
      expect(start, JSON.stringify(options)).toThrow(
        expect.objectContaining({ code: "invalid_config", message: expect.stringMatching(message) }),
      );
    }
  });
});
