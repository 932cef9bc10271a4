import { createHmac } from "node:crypto";
import { createClient, type SessionEvent } from "@cognition/client";
import { defaultConfig, type RunningServer, startServer } from "@cognition/server";
import { createApiKeys } from "@cognition/server/operator";
import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../testing/temp-dir.ts";

const SECRET = "a secret of thirty-two bytes, or more";

let dir: TempDir;
let storage: Storage;
let server: RunningServer;
beforeEach(async () => {
  dir = createTempDir();
  storage = await openStorage("memory");
});
afterEach(async () => {
  await server.close(0);
  await storage.close();
  dir.remove();
});

async function start(mode: "api_key" | "jwt"): Promise<void> {
  const config = defaultConfig();
  const jwt = { ...config.auth.jwt, secret: SECRET, clock_tolerance: 0 };
  server = await startServer({
    storage,
    workspace_root: dir.path,
    env: { PATH: process.env["PATH"] },
    config: {
      ...config,
      auth: { ...config.auth, mode, jwt, recheck_interval: 0.1 },
      sse: { ...config.sse, retry_interval: 1 },
    },
    port: 0,
    onError: (error) => {
      throw error;
    },
  });
}

function tokenFor(user: string, ms: number): string {
  const claims = { cognition_scope: { user }, exp: (Date.now() + ms) / 1000 };
  const signed = [{ alg: "HS256" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
}

async function collect(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const seen: SessionEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const expired = { code: "unauthorized", message: expect.stringContaining("expired") };

test("whoever follows a session with a key that expires is told so", async () => {
  await start("api_key");
  const expires_at = new Date(Date.now() + 2_000).toISOString();
  const { key } = await createApiKeys(storage.apiKeys).create({ name: "short", scope: null, expires_at });
  const client = createClient({ baseUrl: server.url, apiKey: key });
  const { id } = await client.createSession({});
  await expect(collect(client.followEvents(id))).rejects.toMatchObject(expired);
});

test("whoever follows a session with a token that expires is told so", async () => {
  await start("jwt");
  const client = createClient({ baseUrl: server.url, token: tokenFor("ann", 2_000) });
  const { id } = await client.createSession({});
  await expect(collect(client.followEvents(id))).rejects.toMatchObject(expired);
});

test("a client that has a new token for each request goes on with it, and sees each event once", {
  tags: "long",
}, async () => {
  await start("jwt");
  let tokens = 0;
  const token = () => {
    tokens++;
    return tokenFor("ann", 1_000);
  };
  const client = createClient({ baseUrl: server.url, token });
  const { id } = await client.createSession({});
  const before = tokens;
  const seen = await collect(client.sendMessage(id, "Run the command: sleep 3"));
  expect(tokens - before).toBeGreaterThan(1);
  expect(seen.map((event) => "id" in event && event.id)).toEqual(seen.map((_, at) => at + 1));
  expect(seen.length).toBe(await storage.lastEventId(id));
});
