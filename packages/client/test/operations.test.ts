import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { type Media, ROUTES, type Route, scopeHeader } from "@cognition/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Client, createClient, isAppError } from "../src/index.ts";
import { ROUTE_TABLE } from "../src/route-table.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let seen: Seen[] = [];
let answer: (response: ServerResponse, count: number) => void;
let client: Client;

const server = createServer(async (request, response) => {
  const { method = "", url = "", headers } = request;
  seen.push({ method, url, headers, body: await text(request) });
  answer(response, seen.length);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.close());
beforeEach(() => {
  seen = [];
  answer = (response) => response.setHeader("content-type", "application/json").end('{"id":"x"}');
  client = createClient({ baseUrl: url(), wait: async () => {} });
});
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test("the table is the contract's", () => {
  const formOf = ({ body, media: [first] }: Route) => {
    const raw: readonly (Media | undefined)[] = ["bytes"];
    if (body === "bytes" || raw.includes(first)) return "bytes";
    return first === "text" || first === "html" ? "text" : "json";
  };
  const expected = Object.entries(ROUTES).map(([name, route]: [string, Route]) => [
    name,
    route.method,
    route.path,
    formOf(route),
    Boolean(route.query ?? route.body),
  ]);
  const table = Object.entries(ROUTE_TABLE).map(([name, [method, path, form = "json", input = true]]) => [
    name,
    method,
    path,
    form,
    input,
  ]);
  expect(table).toEqual(expected);
});

test("every route is a method", () => {
  const streams = { sendMessage: client.sendMessage, listRunEvents: client.followRun };
  const missing = Object.keys(ROUTES).filter(
    (name) => typeof { ...client, ...streams }[name as keyof Client] !== "function",
  );
  expect(missing).toEqual([]);
});

describe("a call", () => {
  test("puts ids into the path, the rest into query or body", async () => {
    await client.createSession({ title: "Investigation #99" });
    await client.getMessages("a/b?c", { limit: 3, order: "asc" });
    await client.listSessions({ metadata: { "a.b": "c d" }, status: "active" });
    await client.getCheckpoint("s", "c");
    await client.updateArtifact("a", { content: "x" }, { query: { session_id: "s" }, headers: { "If-Match": '"1"' } });
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "POST /sessions",
      "GET /sessions/a%2Fb%3Fc/messages?limit=3&order=asc",
      "GET /sessions?metadata.a.b=c+d&status=active",
      "GET /sessions/s/checkpoints/c",
      "PUT /artifacts/a?session_id=s",
    ]);
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ title: "Investigation #99" });
    expect(seen[4]?.headers["if-match"]).toBe('"1"');
  });

  test("sends a list entry by entry: any of them may hold a comma", async () => {
    await client.getStoreItem({ namespace: ["users", "a,b"], key: "k" });
    await client.deleteStoreItem({ namespace: ["users", "a,b"], key: "k" });
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET /store/items?namespace=users&namespace=a%2Cb&key=k",
      "DELETE /store/items?namespace=users&namespace=a%2Cb&key=k",
    ]);
  });

  test("carries scope, key, token and headers", async () => {
    const scoped = createClient({
      baseUrl: `${url()}/`,
      scope: { user: "u1", team_name: "t" },
      apiKey: "k",
      token: async () => "t1",
      headers: { "x-other": "1" },
    });
    await scoped.getSession("s");
    expect(seen[0]?.url).toBe("/sessions/s");
    expect(seen[0]?.headers).toMatchObject({
      [scopeHeader("user").toLowerCase()]: "u1",
      [scopeHeader("team_name").toLowerCase()]: "t",
      "x-api-key": "k",
      authorization: "Bearer t1",
      "x-other": "1",
    });
  });

  test("sends and reads files as they are, under paths with slashes", async () => {
    answer = (response) => response.setHeader("content-type", "application/json").end(Buffer.from([1, 2, 255]));
    await client.putFile("s", "a b/ü.bin", new Uint8Array([0, 255]));
    expect(await client.getFile("s", "a b/ü.bin")).toEqual(new Uint8Array([1, 2, 255]));
    expect(seen.map(({ url }) => url)).toEqual(Array(2).fill("/sessions/s/files/a%20b/%C3%BC.bin"));
    await expect(client.getFile("s", "../x")).rejects.toMatchObject({ code: "validation_failed" });
    await expect(client.getSession("")).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("sends bytes in whatever a platform has them, and never something else in their place", async () => {
    const { buffer } = new Uint8Array([0, 255]);
    for (const content of [buffer, new Uint8Array([7, 0, 255, 7]).subarray(1, 3), new Blob([buffer])]) {
      await client.putFile("s", "a.bin", content);
    }
    expect(seen.map(({ body }) => body)).toEqual(Array(3).fill(Buffer.from([0, 255]).toString()));
    for (const wrong of [undefined, { a: 1 }, 5]) {
      const refused = { code: "validation_failed", message: expect.stringContaining("content") };
      await expect(client.putFile("s", "a.bin", wrong as never)).rejects.toMatchObject(refused);
    }
    expect(seen).toHaveLength(3);
  });

  test.each(["..", "", "half a \ud83d"])("refuses an id that has no place in a path: %j", async (id) => {
    await expect(client.getSession(id)).rejects.toMatchObject({ code: "validation_failed" });
    expect(seen).toEqual([]);
  });

  test("gives nothing for 204", async () => {
    answer = (response) => response.writeHead(204).end();
    expect(await client.deleteSession("s")).toBeUndefined();
  });
});

describe("an error", () => {
  test("is the server's, with its code and what was wrong", async () => {
    const errors = [{ loc: ["body", "title"], msg: "too long" }];
    answer = (response) => {
      response.writeHead(422, { "content-type": "application/problem+json", "x-request-id": "q1" });
      const problem = {
        type: "about:blank",
        title: "t",
        status: 422,
        detail: "title: too long",
        code: "validation_failed",
      };
      response.end(JSON.stringify({ ...problem, errors, details: { a: 1 } }));
    };
    const error = await client.createSession({}).catch((caught: unknown) => caught);
    expect(isAppError(error, "validation_failed")).toBe(true);
    expect(error).toMatchObject({
      message: "title: too long",
      details: { a: 1, errors, status: 422, request_id: "q1" },
    });
    expect(seen).toHaveLength(1);
  });

  test.each([
    ["a proxy's page", "<h1>Bad gateway</h1>"],
    ["a problem of another shape", JSON.stringify({ code: 5, detail: { a: 1 } })],
    ["a code that is not known here", JSON.stringify({ code: "new_code", detail: "d" })],
  ])("of %s is an unexpected answer", async (_, body) => {
    answer = (response) => response.writeHead(500).end(body);
    await expect(client.getSession("s")).rejects.toMatchObject({ code: "unexpected_answer", details: { status: 500 } });
  });

  test("of a server that is not there says so", async () => {
    const lost = createClient({ baseUrl: "http://127.0.0.1:1", retries: 0 });
    await expect(lost.getHealth()).rejects.toMatchObject({ code: "server_unreachable" });
  });

  test("of an answer that breaks off says so, and a read is tried again", async () => {
    const cut = (response: ServerResponse) => response.writeHead(200, { "content-length": 99 }).end('{"id":', "utf8");
    answer = (response, count) => {
      if (count > 1) return void response.end('{"id":"x"}');
      cut(response);
      response.socket?.destroySoon();
    };
    expect(await client.getSession("s")).toEqual({ id: "x" });
    expect(seen).toHaveLength(2);
    seen = [];
    await expect(client.updateSession("s", {})).rejects.toMatchObject({ code: "server_unreachable" });
    expect(seen).toHaveLength(1);
  });

  test("of a page where JSON should be says so", async () => {
    answer = (response) => response.setHeader("content-type", "text/html").end("<html>Log in first</html>");
    const wrong = { code: "unexpected_answer", details: { status: 200 } };
    await expect(client.getSession("s")).rejects.toMatchObject(wrong);
    await expect(client.submitMessage("s", "hello")).rejects.toMatchObject(wrong);
  });

  test.each([
    [{ baseUrl: "localhost:8000" }, 'baseUrl must begin with http:// or https://; it is "localhost:8000"'],
    [{ baseUrl: "127.0.0.1:8000" }, "The request can't be sent"],
    [
      { baseUrl: "http://127.0.0.1:1", scope: { user: "ann\nbob" } },
      "The request can't be sent: X-Cognition-Scope-User",
    ],
    [{ baseUrl: "http://127.0.0.1:1", scope: { user: "ann " } }, "The request can't be sent: X-Cognition-Scope-User"],
  ])("of a request that can't be sent says so, and is not tried again: %j", async (options, message) => {
    const wait = async () => Promise.reject(new Error("was tried again"));
    const refused = { code: "validation_failed", message: expect.stringContaining(message) };
    await expect(createClient({ ...options, wait }).listSessions()).rejects.toMatchObject(refused);
    await expect(
      createClient({ ...options, wait })
        .sendMessage("s", "hello")
        .rest(),
    ).rejects.toMatchObject(refused);
  });

  test("of a key, token or password that can't be sent does not tell it", async () => {
    const secrets = [
      { apiKey: "hunter2\nhunter2" },
      { token: "hunter2\nhunter2" },
      { baseUrl: "http://ann:hunter2@127.0.0.1:1" },
      { baseUrl: "ann:hunter2@127.0.0.1:1" },
    ];
    for (const secret of secrets) {
      const client = createClient({ baseUrl: "http://127.0.0.1:1", ...secret });
      const error = await client.getSession("s").catch((refused: unknown) => refused);
      expect(error).toMatchObject({ code: "validation_failed" });
      expect(inspect(error)).not.toContain("hunter2");
    }
  });

  test("an abort is the caller's own reason", async () => {
    answer = () => {};
    const signal = AbortSignal.timeout(20);
    await expect(client.getSession("s", { signal })).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

describe("a request that met a server in trouble", () => {
  const failTwice = (response: ServerResponse, count: number) => {
    if (count > 2) response.setHeader("content-type", "application/json").end('{"id":"x"}');
    else response.writeHead(503).end();
  };

  test("is repeated where that is safe: a read, and a POST under one key", async () => {
    answer = failTwice;
    await client.getSession("s");
    expect(seen).toHaveLength(3);
    seen = [];
    await client.forkSession("s", {}, { idempotencyKey: "k1" });
    expect(seen.map(({ headers }) => headers["idempotency-key"])).toEqual(["k1", "k1", "k1"]);
    seen = [];
    await client.forkSession("s");
    const keys = seen.map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  test("is repeated without a key where a POST only reads: under one the server would keep each result", async () => {
    answer = failTwice;
    await client.searchStore();
    await client.searchStore({}, { idempotencyKey: "k1" });
    expect(seen.map(({ headers }) => headers["idempotency-key"])).toEqual([undefined, undefined, undefined, "k1"]);
    seen = [];
    await client.listNamespaces();
    expect(seen[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  test("is repeated while the server is still at work on it: nobody else knows the key of the first one", async () => {
    const pauses: number[] = [];
    const patient = createClient({ baseUrl: url(), random: () => 0, wait: async (ms) => void pauses.push(ms) });
    const problem = { code: "concurrent_writer", detail: "The first request with the key is still being worked on." };
    answer = (response, count) => {
      if (count === 1) response.destroy();
      else if (count === 2) response.writeHead(409, { "retry-after": "5" }).end(JSON.stringify(problem));
      else response.setHeader("content-type", "application/json").end('{"id":"x"}');
    };
    expect(await patient.forkSession("s")).toEqual({ id: "x" });
    expect(new Set(seen.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(pauses).toEqual([500, 5_000]);
  });

  test("is not repeated otherwise", async () => {
    answer = (response) => response.writeHead(409).end('{"code":"concurrent_writer","detail":"The head has moved."}');
    await expect(client.rewindSession("s", { last: "turn" })).rejects.toMatchObject({ code: "concurrent_writer" });
    expect(seen.splice(0)).toHaveLength(1);
    answer = failTwice;
    await expect(client.updateSession("s", { title: "a" })).rejects.toMatchObject({ details: { status: 503 } });
    await expect(client.deleteSession("s")).rejects.toMatchObject({ details: { status: 503 } });
    expect(seen).toHaveLength(2);
  });
});

describe("a redirect", () => {
  test.each([301, 302, 307, 308])(
    "is told and not followed: the key would go elsewhere, and a POST become a GET: %i",
    async (status) => {
      answer = (response) => response.writeHead(status, { location: "https://elsewhere.example/sessions" }).end();
      const keyed = createClient({ baseUrl: url(), apiKey: "k" });
      const told = {
        code: "unexpected_answer",
        message: expect.stringMatching(/redirects to https:\/\/elsewhere\.example\/sessions.*baseUrl/),
        details: { status },
      };
      await expect(keyed.createSession({ title: "x" })).rejects.toMatchObject(told);
      await expect(keyed.getSession("s")).rejects.toMatchObject(told);
      await expect(keyed.sendMessage("s", "x").rest()).rejects.toMatchObject(told);
      expect(seen).toHaveLength(3);
    },
  );

  test("is told where a browser hides it", async () => {
    const hidden = Object.defineProperties(Response.error(), { type: { value: "opaqueredirect" } });
    const page = createClient({
      baseUrl: url(),
      fetch: async (_, { redirect }) => (redirect === "manual" ? hidden : Response.json({})),
    });
    await expect(page.getSession("s")).rejects.toMatchObject({
      message: expect.stringContaining("redirects elsewhere"),
    });
  });
});
