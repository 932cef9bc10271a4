import { gzipSync } from "node:zlib";
import { AppError, ROUTES } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AppOptions, createApp } from "../../src/http/app.ts";
import { createIdempotency } from "../../src/http/idempotency.ts";
import { problemOf } from "./problem-of.ts";

let storage: Storage;
beforeAll(async () => {
  storage = await openStorage("memory");
});
afterAll(() => storage.close());

function build(options: Partial<AppOptions> = {}) {
  const faults: unknown[] = [];
  const app = createApp({
    handlers: {},
    idempotency: createIdempotency(storage),
    check_replies: true,
    onError: (error) => faults.push(error),
    ...options,
  });
  return { app, faults };
}

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => ({
  method: "POST",
  body,
  headers,
});

describe("routing", () => {
  it("answers 404, 405 and 501 as problems, with what is allowed", async () => {
    const { app, faults } = build();
    expect(await problemOf(app.request("/nowhere"))).toMatchObject({ status: 404, code: "route_not_found" });
    const wrong = await app.request("/sessions/x", { method: "PUT" });
    expect(wrong.headers.get("Allow")).toBe("DELETE, GET, HEAD, OPTIONS, PATCH");
    expect(await problemOf(wrong)).toMatchObject({ status: 405, code: "method_not_allowed", instance: "/sessions/x" });
    expect(await problemOf(app.request("/sessions/x"))).toMatchObject({ status: 501, code: "not_supported" });
    expect(faults).toEqual([]);
  });

  it("knows every route of the contract", async () => {
    const { app } = build();
    for (const { method, path } of Object.values(ROUTES)) {
      const response = await app.request(path.replaceAll(/\{\w+\}/g, "1"), { method });
      expect([422, 501], `${method} ${path}`).toContain(response.status);
    }
  });

  it("answers OPTIONS with what is allowed, and HEAD as GET without its body", async () => {
    const { app } = build({ handlers: { getReadiness: async () => ({ ready: true, reasons: [] }) } });
    const options = await app.request("/ready", { method: "OPTIONS" });
    expect([options.status, options.headers.get("Allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    const head = await app.request("/ready", { method: "HEAD" });
    expect([head.status, head.headers.get("Content-Type"), await head.text()]).toEqual([200, "application/json", ""]);
    expect((await app.request("/none", { method: "OPTIONS" })).status).toBe(404);
  });

  it("hands over ids and paths decoded, slashes and newlines included", async () => {
    const seen: unknown[] = [];
    const { app } = build({
      handlers: {
        getFile: async ({ params }) => {
          seen.push(params);
          return new Response("x");
        },
      },
    });
    for (const path of ["a/b.txt", "a%20b/%C3%A9", "line%0Abreak", "100%25/x", "a%2Fb"]) {
      expect((await app.request(`/sessions/s%2F1/files/${path}`)).status, path).toBe(200);
    }
    const paths = ["a/b.txt", "a b/é", "line\nbreak", "100%/x", "a/b"];
    expect(seen).toEqual(paths.map((path) => ({ id: "s/1", path })));
  });

  it("never fails on odd ids", async () => {
    const { app, faults } = build();
    for (const id of ["%00", "a%00b", "x".repeat(300), "..%2f..", "%F0%9F%98%80"]) {
      const { status } = await app.request(`/sessions/${id}`);
      expect([404, 422, 501], id).toContain(status);
    }
    expect(faults).toEqual([]);
  });

  it("refuses an address that can't be decoded, instead of taking it for one that reads like it", async () => {
    const { app, faults } = build({
      handlers: { putFile: async () => undefined, deleteStoreItem: async () => undefined },
    });
    for (const odd of ["%zz", "%ff", "%ED%A0%80", "100%", "%C3%A9%FF"]) {
      for (const [method, path] of [
        ["GET", `/sessions/${odd}`],
        ["PUT", `/sessions/s/files/a/${odd}`],
        ["DELETE", `/store/items?namespace=a&key=${odd}`],
      ] as const) {
        const refused = await problemOf(app.request(path, { method }));
        expect(refused, path).toMatchObject({ status: 400, code: "malformed_request" });
      }
    }
    expect(faults).toEqual([]);
  });

  it("gives back a request id that is fit for a log, and makes one otherwise", async () => {
    const { app } = build();
    const own = await app.request("/none", { headers: { "X-Request-Id": "abc-1" } });
    expect(own.headers.get("X-Request-Id")).toBe("abc-1");
    const odd = await app.request("/none", { headers: { "X-Request-Id": "a b\tc" } });
    expect(odd.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("what comes in", () => {
  const echo = (seen: unknown[]): Partial<AppOptions> => ({
    handlers: {
      abortSession: async ({ body }) => {
        seen.push(body);
        return { success: true, message: "ok", aborted: [] };
      },
      listSessions: async ({ query }) => {
        seen.push(query);
        return { sessions: [], total: 0, has_more: false };
      },
      putFile: async ({ body }) => {
        seen.push([...body]);
        return undefined;
      },
    },
    max_body_bytes: 100,
  });

  it("takes JSON whatever its Content-Type says, and no body as an empty one", async () => {
    const seen: unknown[] = [];
    const { app } = build(echo(seen));
    const path = "/sessions/s/abort";
    await app.request(path, post('{"run_id":"r"}'));
    await app.request(path, post('{"run_id":"r"}', { "Content-Type": "application/x-www-form-urlencoded" }));
    await app.request(path, { method: "POST" });
    await app.request(path, post("  \n"));
    expect(seen).toEqual([{ run_id: "r" }, { run_id: "r" }, {}, {}]);
  });

  it("refuses what is not JSON, not UTF-8, too large, unknown or given twice, each with its code", async () => {
    const seen: unknown[] = [];
    const { app } = build(echo(seen));
    const send = (body: string | Uint8Array<ArrayBuffer>) => problemOf(app.request("/sessions/s/abort", post(body)));
    expect(await send("{")).toMatchObject({ status: 400, code: "malformed_request" });
    expect(await send(new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({ status: 400, code: "malformed_request" });
    expect(await send(`{"run_id":"${"x".repeat(100)}"}`)).toMatchObject({ status: 413, code: "content_too_large" });
    expect(await send("[]")).toMatchObject({ status: 422, code: "validation_failed" });
    expect(await send('{"other":1}')).toMatchObject({ status: 422, errors: [{ loc: ["body"] }] });
    expect(await send('{"run_id":"a", "run_id":"b"}')).toMatchObject({
      status: 422,
      errors: [{ loc: ["body", "run_id"], msg: "is given more than once" }],
    });
    expect(await send('{"__proto__":{"run_id":"a"}}')).toMatchObject({ status: 422 });
    expect(seen).toEqual([]);
  });

  it("refuses a number that JSON.parse makes Infinity, which would be stored as null", async () => {
    const seen: unknown[] = [];
    const sendMessage: NonNullable<AppOptions["handlers"]["sendMessage"]> = async ({ body }) => {
      seen.push(body.context);
      return new Response();
    };
    const { app } = build({ handlers: { sendMessage } });
    const send = (context: string) =>
      app.request("/sessions/s/messages", post(`{"content":"1e999","context":${context}}`));
    for (const number of ["1e400", "-1E+0400", "9".repeat(400), `${"9".repeat(250)}e99`]) {
      const refused = await problemOf(send(`{"a":[0,{"b":${number}}]}`));
      const loc = ["body", "context", "a", 1, "b"];
      expect(refused, number).toMatchObject({ status: 422, code: "validation_failed", errors: [{ loc }] });
    }
    expect((await send('{"a":1.7e308,"b":1e-400,"c":"1e400"}')).status).toBe(200);
    expect(seen).toEqual([{ a: 1.7e308, b: 0, c: "1e400" }]);
  });

  it("counts a body that does not say its length", async () => {
    const { app } = build(echo([]));
    const chunks = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(60)),
    });
    const init = { method: "PUT", body: chunks, duplex: "half" } as RequestInit;
    expect(await problemOf(app.request("/sessions/s/files/x", init))).toMatchObject({ code: "content_too_large" });
  });

  it("takes bytes as they are", async () => {
    const seen: unknown[] = [];
    const { app } = build(echo(seen));
    const response = await app.request("/sessions/s/files/x", { method: "PUT", body: new Uint8Array([0, 255, 10]) });
    expect([response.status, await response.text(), seen]).toEqual([204, "", [[0, 255, 10]]]);
  });

  it("refuses a body that is compressed: a file would be stored as it came", async () => {
    const seen: unknown[] = [];
    const { app } = build(echo(seen));
    const send = (path: string, method: string, encoding: string) =>
      app.request(path, { method, body: gzipSync("{}"), headers: { "Content-Encoding": encoding } });
    for (const refused of [send("/sessions/s/files/x", "PUT", "gzip"), send("/sessions/s/abort", "POST", "br, gzip")]) {
      const detail = expect.stringContaining("gzip (Content-Encoding)");
      expect(await problemOf(refused)).toMatchObject({ status: 400, code: "malformed_request", detail });
    }
    expect(seen).toEqual([]);
    expect((await send("/sessions/s/files/x", "PUT", "identity")).status).toBe(204);
  });

  it("reads a query by its schema: numbers, odd metadata keys, nothing unknown, nothing twice", async () => {
    const seen: unknown[] = [];
    const { app } = build(echo(seen));
    const ask = (query: string) => app.request(`/sessions?${query}`);
    expect((await ask("limit=7&metadata.a.b%20c%3D=x%26y&metadata.%C3%A9=1&status=active")).status).toBe(200);
    expect(seen).toEqual([{ limit: 7, offset: 0, status: "active", metadata: { "a.b c=": "x&y", é: "1" } }]);
    for (const query of [
      "limit=0",
      "limit=1e1",
      "limit=1&limit=2",
      "foo=1",
      "metadata.k=a&metadata.k=b",
      "__proto__=1",
    ]) {
      expect(await problemOf(ask(query)), query).toMatchObject({ status: 422, code: "validation_failed" });
    }
    expect(await problemOf(app.request("/sessions/s?foo=1"))).toMatchObject({ errors: [{ loc: ["query"] }] });
  });
});

describe("what goes out", () => {
  it("hides what went wrong inside, and reports it", async () => {
    const { app, faults } = build({
      handlers: {
        getReadiness: async () => {
          throw new Error("password=secret");
        },
        getHealth: async () => ({ status: "fine" }) as never,
      },
    });
    const problem = await problemOf(app.request("/ready"));
    expect(problem).toMatchObject({ status: 500, code: "internal" });
    expect(JSON.stringify(problem)).not.toContain("secret");
    expect(await problemOf(app.request("/health"))).toMatchObject({ code: "internal" });
    expect(faults.map(String)).toEqual([
      "Error: password=secret",
      expect.stringContaining("the reply of getHealth is not what the contract says"),
    ]);
  });

  it("runs guards around everything: refusals, problems and answers alike", async () => {
    const seen: string[] = [];
    const { app } = build({
      handlers: { getReadiness: async () => ({ ready: true, reasons: [] }) },
      guards: [
        {
          before: ({ headers }) => (headers.has("X-Stop") ? new Response("stopped", { status: 418 }) : undefined),
          after: ({ route }, response) => {
            seen.push(`${route} ${response.status}`);
            response.headers.set("X-After", "yes");
          },
        },
        {
          admit: ({ route, admin }) => {
            if (route === "getReadiness")
              throw new AppError("rate_limited", `slow down ${admin}`, { details: { retry_after_s: 3 } });
            return undefined;
          },
        },
      ],
    });
    const stopped = await app.request("/health", { headers: { "X-Stop": "1" } });
    expect([stopped.status, stopped.headers.get("X-After")]).toEqual([418, "yes"]);
    const limited = await app.request("/ready");
    expect(limited.headers.get("Retry-After")).toBe("3");
    expect(await problemOf(limited)).toMatchObject({ status: 429, detail: "slow down false" });
    await app.request("/none");
    expect(seen).toEqual(["getHealth 418", "getReadiness 429", "undefined 404"]);
  });
});

describe("idempotency keys", () => {
  function counting(work: () => Promise<void> = async () => undefined) {
    let calls = 0;
    return build({
      handlers: {
        abortSession: async () => {
          calls += 1;
          await work();
          return { success: true, message: `call ${calls}`, aborted: [] };
        },
      },
    });
  }
  const key = () => crypto.randomUUID();

  it("gives the first answer to the same key and body, by header or field; another body is refused", async () => {
    const { app } = counting();
    const id = key();
    const send = async (body: string, headers = {}) =>
      (await app.request("/sessions/s/abort", post(body, headers))).json();
    const first = await send('{"run_id":"r"}', { "Idempotency-Key": id });
    expect(first).toMatchObject({ message: "call 1" });
    expect(await send(`{"idempotency_key":"${id}","run_id":"r"}`)).toEqual(first);
    expect(await send('{"run_id":"other"}', { "Idempotency-Key": id })).toMatchObject({ code: "idempotency_mismatch" });
    const elsewhere = await app.request("/sessions/other/abort", post('{"run_id":"r"}', { "Idempotency-Key": id }));
    expect(await problemOf(elsewhere)).toMatchObject({ status: 422, code: "idempotency_mismatch" });
    expect(await send('{"idempotency_key":"x"}', { "Idempotency-Key": id })).toMatchObject({
      code: "validation_failed",
    });
    expect(await send('{"run_id":"r"}', { "Idempotency-Key": key() })).toMatchObject({ message: "call 2" });
  });

  it("does the work once for requests that come together", async () => {
    const gate = Promise.withResolvers<void>();
    const { app } = counting(() => gate.promise);
    const headers = { "Idempotency-Key": key() };
    const both = [1, 2].map(async () => (await app.request("/sessions/s/abort", post("{}", headers))).json());
    gate.resolve();
    expect(await Promise.all(both)).toMatchObject([{ message: "call 1" }, { message: "call 1" }]);
  });

  it("forgets a request that failed, and keeps scopes apart", async () => {
    let fail = true;
    const { app } = counting(async () => {
      if (fail) throw new AppError("session_busy", "later");
    });
    const id = key();
    const send = async (headers = {}) =>
      (await app.request("/sessions/s/abort", post("{}", { "Idempotency-Key": id, ...headers }))).json();
    expect(await send()).toMatchObject({ code: "session_busy" });
    fail = false;
    expect(await send()).toMatchObject({ message: "call 2" });
    expect(await send({ "X-Cognition-Scope-User": "bob" })).toMatchObject({ message: "call 3" });
  });
});
