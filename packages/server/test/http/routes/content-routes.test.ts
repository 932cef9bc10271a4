import { type Artifact, Problem, type StoreItemPage, type Task } from "@cognition/contract";
import { createTasks, openStorage, type Storage } from "@cognition/thread";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../../src/http/app.ts";
import { createIdempotency } from "../../../src/http/idempotency.ts";
import { artifactRoutes } from "../../../src/http/routes/artifacts.ts";
import { profileRoutes } from "../../../src/http/routes/profiles.ts";
import { storeRoutes } from "../../../src/http/routes/store.ts";
import { taskRoutes } from "../../../src/http/routes/tasks.ts";

let storage: Storage;
let app: ReturnType<typeof createApp>;
const faults: unknown[] = [];

beforeAll(async () => {
  storage = await openStorage("memory");
  const tasks = createTasks(storage);
  app = createApp({
    handlers: {
      ...artifactRoutes({ storage }),
      ...storeRoutes({ storage }),
      ...profileRoutes({ tasks }),
      ...taskRoutes({ tasks }),
    },
    idempotency: createIdempotency(storage),
    check_replies: true,
    onError: (error) => faults.push(error),
  });
});
afterAll(async () => {
  await storage.close();
  expect(faults).toEqual([]);
});

interface Sent {
  body?: unknown;
  user?: string;
  headers?: Record<string, string>;
}

async function send(method: string, path: string, { body, user, headers = {} }: Sent = {}) {
  const scope: Record<string, string> = user === undefined ? {} : { "X-Cognition-Scope-User": user };
  const init = { method, headers: { ...scope, ...headers } };
  return app.request(path, body === undefined ? init : { ...init, body: JSON.stringify(body) });
}

async function json<T>(answer: Promise<Response>, status = 200): Promise<T> {
  const response = await answer;
  expect(response.status, await response.clone().text()).toBe(status);
  return (await response.json()) as T;
}

async function refusal(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  expect(response.headers.get("Content-Type")).toBe("application/problem+json");
  const { status, code } = Problem.parse(await response.json());
  return `${status} ${code}`;
}

async function sessionOf(user: string): Promise<string> {
  return (await storage.createSession({ scopes: { user } })).id;
}

describe("artifacts", () => {
  const make = (more: object, user = "alice") =>
    json<Artifact>(send("POST", "/artifacts", { body: { name: "plan.md", content: "one", ...more }, user }), 201);

  it("are versioned, compared and read as they are", async () => {
    const session_id = await sessionOf("alice");
    const at = `?session_id=${session_id}`;
    const { id, version } = await make({ session_id });
    expect(version).toBe(1);
    const first = await send("GET", `/artifacts/${id}${at}`, { user: "alice" });
    expect(first.headers.get("ETag")).toBe('"1"');
    const put = (content: string, headers = {}) =>
      send("PUT", `/artifacts/${id}${at}`, { body: { content }, user: "alice", headers });
    expect((await json<Artifact>(put("one"))).version).toBe(1);
    expect((await json<Artifact>(put("two", { "If-Match": '"1"' }))).version).toBe(2);
    expect(await refusal(put("three", { "If-Match": '"1"' }))).toBe("412 precondition_failed");
    expect(await refusal(put("three", { "If-Match": "yesterday's" }))).toBe("412 precondition_failed");
    // As a proxy that compresses answers makes the tag weak, and as a person writes it.
    for (const tag of ['W/"2"', "2", "*"])
      expect((await json<Artifact>(put("two", { "If-Match": tag }))).version).toBe(2);
    const raw = await send("GET", `/artifacts/${id}/content${at}`, { user: "alice" });
    expect(await raw.text()).toBe("two");
    expect(raw.headers.get("Content-Disposition")).toBe("attachment");
    const versions = await json(send("GET", `/artifacts/${id}/versions${at}&limit=1`, { user: "alice" }));
    expect(versions).toMatchObject({ versions: [{ version: 2 }], total: 2, has_more: true });
    expect(await json(send("GET", `/artifacts/${id}/versions/1${at}`, { user: "alice" }))).toMatchObject({
      content: "one",
    });
    const diff = await json<{ diff: string }>(send("GET", `/artifacts/${id}/diff${at}&from=1&to=2`, { user: "alice" }));
    expect(diff.diff).toMatch(/^-one$[\s\S]*^\+two$/m);
    const remove = (headers = {}) => send("DELETE", `/artifacts/${id}${at}`, { user: "alice", headers });
    expect(await refusal(remove({ "If-Match": '"1"' }))).toBe("412 precondition_failed");
    expect((await remove({ "If-Match": '"2"' })).status).toBe(204);
    expect(await refusal(remove({ "If-Match": '"2"' }))).toBe("404 artifact_not_found");
    expect(await refusal(send("GET", `/artifacts/${id}${at}`, { user: "alice" }))).toBe("404 artifact_not_found");
  });

  it("are seen by whom their visibility says, and by no other scope", async () => {
    const session_id = await sessionOf("alice");
    const hidden = await make({ session_id });
    const shown = await make({ visibility: "public" });
    expect(shown).toMatchObject({ session_id: null, scope: { user: "alice" } });
    expect((await send("GET", `/artifacts/${shown.id}`, { user: "alice" })).status).toBe(200);
    expect(await refusal(send("GET", `/artifacts/${hidden.id}`, { user: "alice" }))).toBe("404 artifact_not_found");
    for (const id of [hidden.id, shown.id]) {
      for (const [method, path, body] of [
        ["GET", `/artifacts/${id}?session_id=${session_id}`],
        ["GET", `/artifacts/${id}/content?session_id=${session_id}`],
        ["PUT", `/artifacts/${id}?session_id=${session_id}`, { content: "mine" }],
        ["DELETE", `/artifacts/${id}?session_id=${session_id}`],
      ] as const) {
        const answer = send(method, path, { user: "bob", ...(body && { body }) });
        expect(await refusal(answer), `${method} ${path}`).toBe("404 artifact_not_found");
      }
    }
    const list = await json<{ artifacts: Artifact[] }>(send("GET", "/artifacts", { user: "bob" }));
    expect(list.artifacts).toEqual([]);
  });

  it("are made by no run of another session", async () => {
    const [session_id, other] = [await sessionOf("alice"), await sessionOf("alice")];
    const { run } = await storage.createRun({ session_id: other });
    const body = { name: "a", content: "b", session_id, run_id: run.id };
    expect(await refusal(send("POST", "/artifacts", { body, user: "alice" }))).toBe("404 run_not_found");
    expect(await make({ session_id: other, run_id: run.id })).toMatchObject({ run_id: run.id });
  });

  it("have a type that a header can carry", async () => {
    for (const content_type of ["text/plain\r\nSet-Cookie: a=b", "текст", "text", "a/b\u{1F600}"]) {
      const body = { name: "a", content: "b", visibility: "public", content_type };
      expect(await refusal(send("POST", "/artifacts", { body, user: "alice" })), content_type).toBe(
        "422 validation_failed",
      );
    }
    const { id } = await make({ visibility: "public", content_type: "text/plain; charset=utf-8" });
    const raw = await send("GET", `/artifacts/${id}/content`, { user: "alice" });
    expect(raw.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  });

  it("hold bytes, and need what they belong to", async () => {
    const bytes = Buffer.from([0, 255, 10]);
    const { id, size } = await make({ visibility: "public", content: bytes.toString("base64"), encoding: "base64" });
    expect(size).toBe(3);
    const raw = await send("GET", `/artifacts/${id}/content`, { user: "alice" });
    expect(Buffer.from(await raw.arrayBuffer())).toEqual(bytes);
    const wrong = [{}, { visibility: "public", artifact_type: "scratch" }, { session_id: "nobody's" }];
    const answers = wrong.map((more) =>
      refusal(send("POST", "/artifacts", { body: { name: "a", content: "b", ...more }, user: "alice" })),
    );
    expect(await Promise.all(answers)).toEqual([
      "422 validation_failed",
      "422 validation_failed",
      "404 session_not_found",
    ]);
  });
});

describe("the memory store", () => {
  it("keeps items of each scope apart, label by label", async () => {
    const item = { namespace: ["users", "a:b"], key: "k", value: { n: 1 } };
    const put = await json(send("PUT", "/store/items", { body: { ...item, ttl_seconds: 60 }, user: "alice" }));
    expect(put).toMatchObject({ ...item, expires_at: expect.any(String) });
    const query = "/store/items?namespace=users&namespace=a:b&key=k";
    expect(await json(send("GET", query, { user: "alice" }))).toMatchObject(item);
    expect(await refusal(send("GET", query, { user: "bob" }))).toBe("404 store_item_not_found");
    expect(await refusal(send("DELETE", query, { user: "bob" }))).toBe("404 store_item_not_found");
    const search = (body: object, user: string) => json(send("POST", "/store/search", { body, user }));
    expect(await search({ namespace_prefix: ["users"], filter: { n: { $gte: 1 } } }, "alice")).toMatchObject({
      items: [item],
      has_more: false,
    });
    expect(await search({ namespace_prefix: ["users"] }, "bob")).toEqual({ items: [], has_more: false });
    await send("PUT", "/store/items", { body: { ...item, key: "k2" }, user: "alice" });
    expect(await search({ limit: 1 }, "alice")).toMatchObject({ items: [{ key: "k" }], has_more: true });
    expect(await json(send("POST", "/store/namespaces", { body: {}, user: "alice" }))).toEqual({
      namespaces: [["users", "a:b"]],
      has_more: false,
    });
    expect((await send("DELETE", query, { user: "alice" })).status).toBe(204);
    expect(await refusal(send("GET", query, { user: "alice" }))).toBe("404 store_item_not_found");
  });

  it("is searched by words, what has most of them first", async () => {
    const put = (key: string, content: string) =>
      send("PUT", "/store/items", { body: { namespace: ["notes"], key, value: { content } }, user: "carol" });
    for (const [key, content] of Object.entries({ a: "red tea", b: "Green TEA", c: "coffee" })) await put(key, content);
    const search = async (body: object, user = "carol") => {
      const { items } = (await json(send("POST", "/store/search", { body, user }))) as StoreItemPage;
      return items.map(({ key }) => key);
    };
    expect(await search({ query: "green tea" })).toEqual(["b", "a"]);
    expect(await search({ query: "green tea", limit: 1 })).toEqual(["b"]);
    expect(await search({ query: "green tea" }, "dave")).toEqual([]);
  });
});

describe("profiles", () => {
  it("belong to the user of the scope", async () => {
    expect(await refusal(send("GET", "/profiles/alice", { user: "alice" }))).toBe("404 profile_not_found");
    const body = { goals: ["ship"], preferences: { tone: "dry" } };
    expect(await json(send("PUT", "/profiles/alice", { body, user: "alice" }))).toMatchObject(body);
    const patched = await json(
      send("PATCH", "/profiles/alice", { body: { communication_style: "brief" }, user: "alice" }),
    );
    expect(patched).toMatchObject({ goals: ["ship"], communication_style: "brief" });
    for (const method of ["GET", "PUT", "PATCH"]) {
      const answer = send(method, "/profiles/alice", { user: "bob", ...(method !== "GET" && { body: {} }) });
      expect(await refusal(answer)).toBe("403 scope_mismatch");
    }
  });
});

describe("tasks", () => {
  it("go from start to completion, and only their user gets at them", async () => {
    const task = await json<Task>(send("POST", "/tasks", { body: { query: "Find it" }, user: "alice" }), 201);
    expect(task).toMatchObject({
      query: "Find it",
      user_id: "alice",
      execution: { max_iterations: 10, mode: "adapt" },
    });
    const at = `/tasks/${task.task_id}`;
    const said = { role: "user", content: "hello" };
    expect(await json(send("POST", `${at}/messages`, { body: said, user: "alice" }), 201)).toMatchObject({
      conversation: { messages: [said] },
    });
    const patch = { insights: ["it is late"], facts: { day: "Sunday" } };
    expect(await json(send("PATCH", `${at}/workspace`, { body: patch, user: "alice" }))).toMatchObject({
      workspace: patch,
    });
    expect(await json(send("POST", `${at}/continue`, { body: {}, user: "alice" }))).toMatchObject({
      query: "Find it",
      conversation_id: task.conversation_id,
      workspace: patch,
    });
    for (const [method, path, body] of [
      ["GET", at],
      ["POST", `${at}/continue`, {}],
      ["POST", `${at}/messages`, said],
      ["PATCH", `${at}/workspace`, patch],
      ["POST", `${at}/complete`, {}],
    ] as const) {
      const answer = send(method, path, { user: "bob", ...(body && { body }) });
      expect(await refusal(answer), path).toBe("404 task_not_found");
    }
    const foreign = { query: "q", conversation_id: task.conversation_id };
    const answer = send("POST", "/tasks", { body: foreign, user: "bob" });
    expect(await refusal(answer)).toBe("404 conversation_not_found");
    const complete = (user: string) => send("POST", `${at}/complete`, { body: {}, user });
    const [done, twin] = await Promise.all([json(complete("alice")), json(complete("alice"))]);
    expect(done).toEqual({
      task_id: task.task_id,
      conversation_id: task.conversation_id,
      completed_at: expect.any(String),
    });
    expect(twin).toEqual(done);
    expect(await json(complete("alice")), "again, as after a restart").toEqual(done);
    expect(await refusal(complete("bob"))).toBe("404 task_not_found");
    expect(await refusal(send("GET", at, { user: "alice" }))).toBe("404 task_not_found");
  });
});
