import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, beforeEach, expect, it } from "vitest";
import { secretValues } from "../../src/config/secret-values.ts";
import { loadConfig } from "../../src/config.ts";
import { createAccess } from "../../src/http/access.ts";
import { accessSettings } from "../../src/http/access-settings.ts";
import { createApp } from "../../src/http/app.ts";
import { createApiKeys } from "../../src/http/auth/api-keys.ts";
import { createIdempotency } from "../../src/http/idempotency.ts";
import { metricRoutes } from "../../src/http/routes/metrics.ts";
import { createLogger } from "../../src/telemetry/logger.ts";

let storage: Storage;
let log = "";
beforeEach(async () => {
  storage = await openStorage("memory");
  log = "";
});
afterEach(() => storage.close());

/** The application as the environment configures it, with one route. */
function build(env: Record<string, string>) {
  const { config } = loadConfig({ env, cwd: "/", home: undefined });
  const onError = (error: unknown) => logger.error({ error }, "failed");
  const logger = createLogger({
    level: "debug",
    format: "json",
    write: (line) => (log += line),
    secrets: secretValues(config, env),
  });
  const access = createAccess({
    settings: accessSettings(config),
    storage,
    log: logger,
    clock: () => new Date(),
    now: () => performance.now(),
    fetch,
    onError,
  });
  const app = createApp({
    handlers: {
      getReadiness: async () => ({ ready: true, reasons: [] }),
      ...metricRoutes({ metrics: { read: async () => ({ text: "runs 1", type: "text/plain" }) } }),
      listSessions: async ({ scope }) => {
        if (scope?.["user"] === "boom") throw new Error(`lost ${env["OPENAI_API_KEY"]}`);
        const sessions = await storage.listSessions(scope ? { scope } : {});
        return { sessions, total: sessions.length, has_more: false };
      },
    },
    idempotency: createIdempotency(storage),
    scoping: config.scoping,
    onError,
    ...access,
  });
  return { app, ask: (headers: Record<string, string> = {}, path = "/sessions") => app.request(path, { headers }) };
}

async function codeOf(response: Response | Promise<Response>): Promise<[number, string]> {
  const { status, code } = (await (await response).json()) as { status: number; code: string };
  return [status, code];
}

it("a key sees its own scope, and a header that contradicts it is refused", async () => {
  const { ask } = build({ COGNITION_AUTH_MODE: "api_key", COGNITION_SCOPING_ENABLED: "true" });
  const { key } = await createApiKeys(storage.apiKeys).create({ name: "ann's", scope: { user: "ann" } });
  await storage.createSession({ scopes: { user: "ann" }, title: "hers" });
  await storage.createSession({ scopes: { user: "bob" }, title: "his" });
  const mine = await ask({ "X-API-Key": key });
  expect(await mine.json()).toMatchObject({ total: 1, sessions: [{ title: "hers" }] });
  const bob = { "X-Cognition-Scope-User": "bob" };
  expect(await codeOf(ask({ "X-API-Key": key, ...bob }))).toEqual([403, "scope_mismatch"]);
  const nobody = await ask(bob);
  expect(nobody.headers.get("WWW-Authenticate")).toMatch(/^Bearer/);
  expect(await codeOf(nobody)).toEqual([401, "unauthorized"]);
  expect((await ask({}, "/ready")).status).toBe(200);
});

it("a header in UTF-8 says the same name as the key that is bound to it", async () => {
  const { ask } = build({ COGNITION_AUTH_MODE: "api_key", COGNITION_SCOPING_ENABLED: "true" });
  const { key } = await createApiKeys(storage.apiKeys).create({ name: "hers", scope: { user: "Zoë" } });
  const named = (user: Buffer) => ask({ "X-API-Key": key, "X-Cognition-Scope-User": user.toString("latin1") });
  expect((await named(Buffer.from("Zoë"))).status).toBe(200);
  expect(await codeOf(named(Buffer.from("Zoé")))).toEqual([403, "scope_mismatch"]);
  expect(await codeOf(named(Buffer.from("Zoë", "latin1")))).toEqual([422, "validation_failed"]);
});

it("a key that was made without a scope names none by its headers where scoping is on; one for any scope does", async () => {
  const { ask } = build({ COGNITION_AUTH_MODE: "api_key", COGNITION_SCOPING_ENABLED: "true" });
  const keys = createApiKeys(storage.apiKeys);
  const bob = { "X-Cognition-Scope-User": "bob" };
  const status = async (key: string) => (await ask({ "X-API-Key": key, ...bob })).status;
  const unbound = await keys.create({ name: "unbound", scope: {} });
  expect(await codeOf(ask({ "X-API-Key": unbound.key, ...bob }))).toEqual([403, "forbidden"]);
  expect(await status((await keys.create({ name: "any", scope: null })).key)).toBe(200);
  expect(await status((await keys.create({ name: "admin", scope: {}, admin: true })).key)).toBe(200);
});

it("the metrics, which are those of all scopes, are not told to a key of one of them", async () => {
  const { ask } = build({ COGNITION_AUTH_MODE: "api_key", COGNITION_SCOPING_ENABLED: "true" });
  const keys = createApiKeys(storage.apiKeys);
  const read = async (scope: Record<string, string> | null, admin = false) =>
    ask({ "X-API-Key": (await keys.create({ name: "a", scope, admin })).key }, "/metrics");
  expect(await codeOf(read({ user: "ann" }))).toEqual([403, "forbidden"]);
  expect((await read({ user: "ann" }, true)).status).toBe(200);
  expect((await read({})).status).toBe(200);
  expect((await read(null)).status).toBe(200);
  expect(await codeOf(ask({}, "/metrics"))).toEqual([401, "unauthorized"]);
});

it("a foreign page is refused before anybody asks who it is; refusals have the security headers too", async () => {
  const { app, ask } = build({ COGNITION_AUTH_MODE: "api_key", COGNITION_CORS_ORIGINS: "https://app.example" });
  const foreign = await ask({ Origin: "https://evil.example" });
  expect(foreign.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(foreign.headers.get("Access-Control-Allow-Origin")).toBeNull();
  expect(await codeOf(foreign)).toEqual([403, "origin_refused"]);
  expect(await codeOf(ask({ Host: "evil.example" }))).toEqual([403, "origin_refused"]);
  const listed = await ask({ Origin: "https://app.example" });
  expect(listed.headers.get("Access-Control-Allow-Origin")).toBe("https://app.example");
  expect(await codeOf(listed)).toEqual([401, "unauthorized"]);
  const preflight = { Origin: "https://app.example", "Access-Control-Request-Method": "GET" };
  const allowed = await app.request("/sessions", { method: "OPTIONS", headers: preflight });
  expect([allowed.status, allowed.headers.get("Access-Control-Allow-Origin")]).toEqual([204, "https://app.example"]);
});

it("a page on another port of the address that it listens on is foreign; a page of one of its names is not", async () => {
  const { app } = build({ COGNITION_HOST: "box.example", COGNITION_SERVER_HOSTS: "agents.example.com" });
  const status = async (host: string, origin: string) =>
    (await app.request("/sessions", { headers: { Host: host, Origin: origin } })).status;
  expect(await status("box.example:8000", "http://box.example:8000")).toBe(200);
  expect(await status("box.example:8000", "http://box.example:9000")).toBe(403);
  expect(await status("10.0.0.7:8000", "https://agents.example.com")).toBe(200);
  const local = build({}).app.request("/sessions", {
    headers: { Host: "127.0.0.1:8000", Origin: "http://127.0.0.1:9000" },
  });
  expect(await codeOf(local)).toEqual([403, "origin_refused"]);
});

it.each(["false", "true"])("too many requests of a scope are 429 with Retry-After (shared: %s)", async (shared) => {
  const rate = { COGNITION_RATE_LIMIT_PER_SECOND: "0.02", COGNITION_RATE_LIMIT_BURST: "2" };
  const { ask } = build({ ...rate, COGNITION_RATE_LIMIT_SHARED: shared });
  const ann = () => ask({ "X-Cognition-Scope-User": "ann" });
  const begun = performance.now();
  expect([(await ann()).status, (await ann()).status]).toEqual([200, 200]);
  const refused = await ann();
  const passed_s = (performance.now() - begun) / 1_000;
  const wait_s = Number(refused.headers.get("Retry-After"));
  expect(wait_s).toBeLessThanOrEqual(50);
  expect(wait_s).toBeGreaterThanOrEqual(Math.floor(50 - passed_s));
  expect(await codeOf(refused)).toEqual([429, "rate_limited"]);
  expect((await ask({ "X-Cognition-Scope-User": "bob" })).status).toBe(200);
});

it("neither keys nor tokens, queries nor provider keys come into the log", async () => {
  const provider = "provider-key-of-no-known-shape";
  const { ask } = build({ COGNITION_AUTH_MODE: "api_key", OPENAI_API_KEY: provider });
  const { key } = await createApiKeys(storage.apiKeys).create({ name: "any", scope: null });
  await ask({ "X-API-Key": key });
  await ask({ Authorization: `Bearer ${key}x` }, "/sessions?metadata.pin=4711471147&api_key=in-the-query");
  const broken = await ask({ Authorization: `Bearer ${key}`, "X-Cognition-Scope-User": "boom" });
  expect(await broken.text()).not.toContain(provider);
  const lines = log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ msg, status }) => [msg, status])).toEqual([
    ["request", 200],
    ["request", 401],
    ["failed", undefined],
    ["request", 500],
  ]);
  expect(lines[3]).toMatchObject({ request_id: broken.headers.get("X-Request-Id"), scope: { user: "boom" } });
  expect(lines[2].error.message).toBe("lost [hidden]");
  for (const secret of [key.slice(15), provider, "4711471147", "in-the-query"]) expect(log).not.toContain(secret);
});

it("settings that make no sense stop the start", () => {
  const wrong = [{ COGNITION_AUTH_MODE: "jwt" }, { COGNITION_CORS_ORIGINS: "app.example" }];
  for (const env of wrong) expect(() => build(env)).toThrow(expect.objectContaining({ code: "invalid_config" }));
});

it("behind a proxy that is trusted, who guesses keys keeps nobody else out", async () => {
  const env = { COGNITION_AUTH_MODE: "api_key", COGNITION_AUTH_FAILURES_PER_MINUTE: "2" };
  const { key } = await createApiKeys(storage.apiKeys).create({ name: "new", scope: {}, admin: true });
  const from = ({ app }: ReturnType<typeof build>, client: string, apiKey: string) => {
    const headers = { "X-API-Key": apiKey, "X-Forwarded-For": client };
    const incoming = { socket: { remoteAddress: "10.0.0.1" } };
    return app.request("/sessions", { headers }, { incoming } as never);
  };
  const guess = async (app: ReturnType<typeof build>) => {
    for (let n = 0; n < 3; n++) await from(app, "192.0.2.66", "cog_wrong");
  };
  const blind = build(env);
  await guess(blind);
  expect((await from(blind, "192.0.2.1", key)).status).toBe(429);
  const seeing = build({ ...env, COGNITION_SERVER_TRUSTED_PROXIES: "10.0.0.0/8" });
  await guess(seeing);
  expect((await from(seeing, "192.0.2.66", "cog_other")).status).toBe(429);
  expect((await from(seeing, "192.0.2.1", key)).status).toBe(200);
  expect(log).toContain('"remote_address":"192.0.2.1"');
});
