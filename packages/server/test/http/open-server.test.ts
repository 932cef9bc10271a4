import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { createApiKeys } from "../../src/http/auth/api-keys.ts";
import { createServerLog } from "../../src/telemetry/server-log.ts";
import { startTestServer } from "./test-server.ts";

const config = defaultConfig();

/** As no fetch would send it: any Host. */
async function statusFor(url: string, headers: Record<string, string>): Promise<number | undefined> {
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

  it("does not start where others can reach it, unless it is told that this is meant", async () => {
    const starting = startTestServer({ host: "0.0.0.0" });
    await expect(starting).rejects.toMatchObject({ code: "invalid_config", message: /without authentication/ });
    const withKeys = { ...config, auth: { ...config.auth, mode: "api_key" as const } };
    const offline = startTestServer({ host: "0.0.0.0", config: withKeys });
    await expect(offline).rejects.toMatchObject({ code: "invalid_config", message: /offline model/ });
    const scoped = { ...withKeys, scoping: { enabled: true, keys: ["user"] } };
    const sandbox = startTestServer({ host: "0.0.0.0", config: scoped });
    await expect(sandbox).rejects.toMatchObject({
      code: "invalid_config",
      message: /COGNITION_SANDBOX_ALLOW_UNISOLATED/,
    });
  });

  it("without authentication is open to its own machine", async () => {
    const { fetch } = await startTestServer();
    expect((await fetch("/sessions")).status).toBe(200);
    expect(await (await fetch("/health")).json()).toMatchObject({ status: "ok" });
  });
});
