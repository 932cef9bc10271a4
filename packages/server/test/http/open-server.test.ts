import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { createApiKeys } from "../../src/http/auth/api-keys.ts";
import { createServerLog } from "../../src/telemetry/server-log.ts";
import { problemOf } from "./problem-of.ts";
import { startTestServer } from "./test-server.ts";
import { until } from "./until.ts";

const config = defaultConfig();

/** As no fetch would send it: any Host, a header twice. */
async function statusFor(url: string, headers: Record<string, string | string[]>): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(`${url}/sessions`, { headers }, (response) => {
    response.resume();
    resolve(response.statusCode);
  })
    .on("error", reject)
    .end();
  return promise;
}

describe("a server as it is started", () => {
  it("lets in who has a key, and nobody by another name or from another page", async () => {
    const lines: string[] = [];
    const closed = { ...config, auth: { ...config.auth, mode: "api_key" as const } };
    const log = createServerLog({ config: closed, env: {}, output: { write: (line) => lines.push(line) } });
    const { server, storage, fetch } = await startTestServer({ config: closed, log });
    const { key } = await createApiKeys(storage.apiKeys).create({ name: "test", scope: null });
    expect((await fetch("/sessions")).status).toBe(401);
    const answer = await fetch("/sessions", { headers: { "X-API-Key": key } });
    expect([answer.status, answer.headers.get("X-Content-Type-Options")]).toEqual([200, "nosniff"]);
    expect(await statusFor(server.url, { Host: "evil.example", "X-API-Key": key })).toBe(403);
    expect(await statusFor(server.url, { Origin: "https://evil.example", "X-API-Key": key })).toBe(403);
    expect((await fetch("/health")).status).toBe(200);
    expect(lines.map((line) => JSON.parse(line).status)).toEqual([401, 200, 403, 403]);
    expect(lines.join("")).not.toContain(key.slice(15));
  });

  it("refuses a scope that is sent twice: a client's own beside the one that its proxy adds", async () => {
    const { server } = await startTestServer({ scoping: { enabled: true, keys: ["user", "project_id"] } });
    const project = { "X-Cognition-Scope-Project-Id": "p" };
    expect(await statusFor(server.url, { ...project, "X-Cognition-Scope-User": "ann" })).toBe(200);
    expect(await statusFor(server.url, { ...project, "X-Cognition-Scope-User": "ann, ben" })).toBe(200);
    expect(await statusFor(server.url, { ...project, "X-Cognition-Scope-User": ["ann", "ben"] })).toBe(422);
    const spelled = { ...project, "X-Cognition-Scope-Project_Id": "q", "X-Cognition-Scope-User": "ann" };
    expect(await statusFor(server.url, spelled)).toBe(422);
    // Node would not look that far.
    const { "X-Cognition-Scope-Project_Id": last, ...first } = spelled;
    const far = { ...first, a: Array<string>(2_100).fill(""), "X-Cognition-Scope-Project_Id": last };
    expect(await statusFor(server.url, far)).toBe(422);
  });

  it("does not start where others can reach it, unless it is told that this is meant", async () => {
    const starting = startTestServer({ host: "0.0.0.0" });
    await expect(starting).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringMatching(/without authentication/),
    });
    const withKeys = { ...config, auth: { ...config.auth, mode: "api_key" as const } };
    const offline = startTestServer({ host: "0.0.0.0", config: withKeys });
    await expect(offline).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringMatching(/offline model/),
    });
    const meant = { ...withKeys, models: { ...config.models, offline: "on" as const } };
    const scoped = { ...meant, scoping: { enabled: true, keys: ["user"] } };
    const sandbox = startTestServer({ host: "0.0.0.0", config: scoped });
    await expect(sandbox).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringMatching(/COGNITION_SANDBOX_ALLOW_UNISOLATED/),
    });
  });

  it("refuses a body that is compressed on its way, and takes one that comes in chunks", async () => {
    const { server } = await startTestServer();
    const send = async (coding: string) => {
      const socket = connect(server.port, "127.0.0.1");
      socket.write(
        `POST /sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: ${coding}\r\n\r\n`,
      );
      socket.write("2\r\n{}\r\n0\r\n\r\n");
      return text(socket);
    };
    const refused = await send("gzip, chunked");
    expect(refused).toMatch(/^HTTP\/1\.1 400 /);
    expect(refused).toContain("gzip, chunked (Transfer-Encoding)");
    expect(await send("Chunked")).toMatch(/^HTTP\/1\.1 201 /);
  });

  it("keeps a connection that waits for longer than proxies do", async () => {
    const { fetch } = await startTestServer();
    const [, seconds] = /timeout=(\d+)/.exec((await fetch("/ready")).headers.get("Keep-Alive") ?? "") ?? [];
    expect(Number(seconds)).toBeGreaterThan(120);
  });

  it("takes in a thousand clients that come at the same moment", async () => {
    const { server } = await startTestServer();
    const sockets = Array.from({ length: 1_000 }, () => connect(server.port, "127.0.0.1"));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const waited = await Promise.all(sockets.map((socket) => once(socket, "connect").then(() => performance.now())));
    const order = waited.sort((a, b) => a - b);
    const pauses = order.map((at, index) => at - (order[index - 1] ?? at));
    // Whom the system drops asks again after a second, when all others have long been taken in, however slow the machine is.
    expect(Math.max(...pauses)).toBeLessThan(600);
  });

  it("warns of scopes that have one folder for all", async () => {
    const { ask } = await startTestServer({ scoping: { enabled: true, keys: ["user"] }, isolation: "shared" });
    const { warnings } = (await (await ask("/health")).json()) as { warnings: string[] };
    expect(warnings.join()).toContain("COGNITION_WORKSPACE_ISOLATION");
  });

  it("tells strangers that it is well, and only an administrator how much there is", async () => {
    const closed = { ...config, auth: { ...config.auth, mode: "api_key" as const } };
    const { storage, fetch } = await startTestServer({ config: closed });
    const keys = createApiKeys(storage.apiKeys);
    const [admin, other] = await Promise.all([
      keys.create({ name: "admin", scope: null, admin: true }),
      keys.create({ name: "other", scope: { user: "ann" } }),
    ]);
    const seen = async (key?: string) => (await fetch("/health", key ? { headers: { "X-API-Key": key } } : {})).json();
    expect(await seen(admin.key)).toMatchObject({
      status: "ok",
      sessions: 0,
      active_runs: 0,
      warnings: expect.any(Array),
    });
    for (const key of [undefined, "wrong", other.key]) {
      const health = (await seen(key)) as object;
      expect(health).toMatchObject({ status: "ok", storage: { ok: true } });
      for (const field of ["sessions", "active_runs", "warnings"]) expect(health).not.toHaveProperty(field);
    }
  });

  it("takes bodies and headers up to the limits of its configuration", async () => {
    const limits = { ...config.server, body_limit: 2_048, header_limit: 4_096 };
    const { fetch } = await startTestServer({ config: { ...config, server: limits } });
    const create = (length: number) =>
      fetch("/sessions", { method: "POST", json: { metadata: { a: "x".repeat(length) } } });
    expect((await create(1_900)).status).toBe(201);
    expect(await problemOf(create(2_040))).toMatchObject({
      status: 413,
      code: "content_too_large",
      details: { limit: "body", max: 2_048 },
    });
    const list = (length: number) => fetch("/sessions", { headers: { "X-Filler": "x".repeat(length) } });
    expect((await list(3_000)).status).toBe(200);
    expect((await list(4_200)).status).toBe(431);
  });

  it("holds a body without a length to the same limit, and a client that leaves in the middle of one is no fault", async () => {
    const lines: string[] = [];
    const small = { ...config, server: { ...config.server, body_limit: 2_048 } };
    const log = createServerLog({ config: small, env: {}, output: { write: (line) => lines.push(line) } });
    const { server, fetch, faults } = await startTestServer({ config: small, log });
    const chunks = ReadableStream.from(Array.from({ length: 4 }, () => Buffer.alloc(1_024, " ")));
    const chunked = { method: "POST", body: chunks, duplex: "half" } as RequestInit;
    expect(await problemOf(fetch("/sessions", chunked))).toMatchObject({ status: 413, code: "content_too_large" });
    const begun = ['Content-Length: 100\r\n\r\n{"title":', 'Transfer-Encoding: chunked\r\n\r\n9\r\n{"title":'];
    const leaving = begun.map((text) => {
      const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
      return socket.on("connect", () => socket.end(`POST /sessions HTTP/1.1\r\nHost: localhost\r\n${text}`));
    });
    const refused = async () => lines.filter((line) => JSON.parse(line).status === 400)[1];
    await until("the answers to half a body", refused, 20_000);
    for (const socket of leaving) socket.destroy();
    expect(faults).toEqual([]);
  });

  it("answers a probe that speaks HTTP/1.0, and what has no address with a problem", async () => {
    const { server } = await startTestServer();
    const answerTo = (text: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      let answer = "";
      const socket = connect(server.port, "127.0.0.1", () => socket.write(`${text}\r\n\r\n`));
      socket.on("data", (data) => (answer += data)).on("error", reject);
      socket.on("close", () => resolve(answer));
      return promise;
    };
    expect(await answerTo("GET /ready HTTP/1.0")).toMatch(/^HTTP\/1\.1 200 [\s\S]*"ready":true/);
    expect(await answerTo("OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close")).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*malformed_request/,
    );
  });

  it("refuses an address that sends wrong credentials again and again, unread, and not who was in before", async () => {
    const auth = { ...config.auth, mode: "api_key" as const, failures_per_minute: 1 };
    const { storage, fetch } = await startTestServer({ config: { ...config, auth } });
    const keys = createApiKeys(storage.apiKeys);
    const [known, unknown] = await Promise.all(["a", "b"].map((name) => keys.create({ name, scope: null })));
    const ask = (key: string) => fetch("/sessions", { headers: { "X-API-Key": key } });
    expect((await ask(known?.key ?? "")).status).toBe(200);
    expect((await ask("a guess")).status).toBe(401);
    const refused = await ask("another");
    expect([refused.status, Number(refused.headers.get("Retry-After")) > 0]).toEqual([429, true]);
    expect((await ask(unknown?.key ?? "")).status).toBe(429);
    expect((await ask(known?.key ?? "")).status).toBe(200);
    expect((await fetch("/sessions")).status).toBe(401);
    expect((await fetch("/ready")).status).toBe(200);
  });

  it("tells what the storage says of itself only to an administrator, and never waits for it", async () => {
    const auth = { ...config.auth, mode: "api_key" as const };
    const { storage, fetch } = await startTestServer({ config: { ...config, auth } });
    const { key } = await createApiKeys(storage.apiKeys).create({ name: "a", scope: null, admin: true });
    storage.healthCheck = async () => ({ ok: false, latency_ms: 1, error: "no route to db.internal" }) as never;
    const answer = async (path: string, headers = {}) => (await fetch(path, { headers })).text();
    const asAdmin = { "X-API-Key": key };
    expect(await answer("/ready", asAdmin)).toContain("The storage does not do its work");
    for (const told of [await answer("/ready", asAdmin), await answer("/ready"), await answer("/health")])
      expect(told).not.toContain("db.internal");
    expect(await answer("/health", asAdmin)).toContain("no route to db.internal");
    storage.apiKeys.findApiKey = () => new Promise(() => undefined);
    const other = { "X-API-Key": `${key.slice(0, -1)}x` };
    expect(await answer("/health", other)).toContain("unhealthy");
  });

  it("without authentication is open to its own machine", async () => {
    const { fetch } = await startTestServer();
    expect((await fetch("/sessions")).status).toBe(200);
    expect(await (await fetch("/health")).json()).toMatchObject({ status: "ok" });
  });
});
