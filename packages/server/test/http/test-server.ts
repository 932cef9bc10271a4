import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { onTestFinished } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { defaultConfig } from "../../src/config.ts";
import { type RunningServer, type StartServerOptions, startServer } from "../../src/main.ts";

export interface TestServer {
  readonly server: RunningServer;
  readonly storage: Storage;
  readonly root: string;
  readonly faults: unknown[];
  /** Without a socket. */
  ask(path: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
  /** Over the socket. */
  fetch(path: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
  createSession(fields?: Record<string, unknown>, headers?: Record<string, string>): Promise<Session>;
}

export interface TestServerOptions extends Partial<StartServerOptions> {
  /** Files of `.cognition/agents`. */
  agents?: Record<string, string>;
  root?: string;
  scoping?: { enabled: boolean; keys: string[] };
  isolation?: "session" | "shared";
  heartbeat_s?: number;
  retry_ms?: number;
}

type Init = RequestInit & { json?: unknown };

/** A whole server on a free port, with the offline model; gone when the test is. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { agents = {}, scoping, isolation = "session", heartbeat_s, retry_ms, ...rest } = options;
  const root = options.root ?? tempRoot();
  mkdirSync(join(root, ".cognition/agents"), { recursive: true });
  for (const [file, text] of Object.entries(agents)) writeFileSync(join(root, ".cognition/agents", file), text);
  const storage = options.storage ?? (await openStorage("memory"));
  const faults: unknown[] = [];
  const config = defaultConfig();
  const server = await startServer({
    workspace_root: root,
    env: { PATH: process.env["PATH"] },
    engine: { poll_ms: 20 },
    onError: (error) => faults.push(error),
    config: {
      ...config,
      scoping: scoping ?? config.scoping,
      workspace: { ...config.workspace, isolation },
      sse: {
        ...config.sse,
        heartbeat_interval: heartbeat_s ?? config.sse.heartbeat_interval,
        retry_interval: retry_ms ?? config.sse.retry_interval,
      },
    },
    check_replies: true,
    port: 0,
    ...rest,
    storage,
  });
  onTestFinished(async () => {
    await server.close(0);
    if (!options.storage) await storage.close();
  });
  const ask = async (path: string, init?: Init) => server.runtime.http.app.request(path, withJson(init));
  return {
    server,
    storage,
    root,
    faults,
    ask,
    fetch: (path, init) => fetch(server.url + path, withJson(init)),
    createSession: async (fields = {}, headers = {}) => {
      const response = await ask("/sessions", { method: "POST", json: fields, headers });
      if (response.status !== 201) throw new Error(`no session: ${await response.text()}`);
      return response.json() as Promise<Session>;
    },
  };
}

function tempRoot(): string {
  const dir = createTempDir();
  onTestFinished(() => dir.remove());
  return dir.path;
}

function withJson({ json, ...init }: Init = {}): RequestInit {
  return json === undefined ? init : { ...init, body: JSON.stringify(json) };
}
