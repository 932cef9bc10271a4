import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createClient } from "@cognition/client";
import { defaultConfig, type RunningServer, startServer } from "@cognition/server";
import { openStorage, type Storage } from "@cognition/thread";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTempDir } from "../../../testing/temp-dir.ts";

const dir = createTempDir();
let storage: Storage;
let server: RunningServer;
beforeAll(async () => {
  storage = await openStorage("memory");
  server = await startServer({
    storage,
    workspace_root: dir.path,
    env: {},
    config: { ...defaultConfig(), scoping: { enabled: true, keys: ["user"] } },
    port: 0,
    check_replies: true,
    onError: (error) => {
      throw error;
    },
  });
});
afterAll(async () => {
  await server.close(0);
  await storage.close();
  dir.remove();
});

/** As programs that know nothing of headers send them: the bytes as they are. */
async function ask(path: string, headers: Record<string, Buffer>, body?: object): Promise<[number, unknown]> {
  const sent = Object.entries(headers).map(([name, bytes]) => [name, bytes.toString("latin1")]);
  const asked = request(server.url + path, { method: body ? "POST" : "GET", headers: Object.fromEntries(sent) });
  // Bytes: Node writes the headers along with a text, and in the text's encoding.
  asked.end(body && Buffer.from(JSON.stringify(body)));
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const text = Buffer.concat(await answer.toArray()).toString();
  return [answer.statusCode ?? 0, JSON.parse(text)];
}

test.each(["Zoë", "à", "Łukasz", "李", "🙂"])(
  "a user called %s is one user, by the client and by bytes",
  async (user) => {
    const client = createClient({ baseUrl: server.url, scope: { user } });
    const { id, scopes } = await client.createSession({});
    expect(scopes).toEqual({ user });
    const bytes = { "X-Cognition-Scope-User": Buffer.from(user) };
    expect(await ask(`/sessions/${id}`, bytes)).toMatchObject([200, { id, scopes: { user } }]);
  },
);

test("a scope that is no UTF-8 is refused by name, and so is an idempotency key", async () => {
  const latin = Buffer.from("Zoë", "latin1");
  const problem = (name: string) => ({ code: "validation_failed", errors: [{ loc: ["header", name] }] });
  expect(await ask("/sessions", { "X-Cognition-Scope-User": latin })).toMatchObject([
    422,
    problem("X-Cognition-Scope-User"),
  ]);
  const headers = { "X-Cognition-Scope-User": Buffer.from("ann"), "Idempotency-Key": latin };
  expect(await ask("/sessions", headers, {})).toMatchObject([422, problem("Idempotency-Key")]);
});

test("an idempotency key is the same in a header and in a body", async () => {
  const client = createClient({ baseUrl: server.url, scope: { user: "ann" } });
  const first = await client.createSession({ title: "one" }, { idempotencyKey: "Ł-1" });
  const bytes = { "X-Cognition-Scope-User": Buffer.from("ann") };
  const again = await ask("/sessions", bytes, { title: "one", idempotency_key: "Ł-1" });
  expect(again).toMatchObject([201, { id: first.id }]);
});
