import { AppError, type Run, type Session, type Task } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { expect, it, onTestFinished, vi } from "vitest";
import { createIdempotency } from "../../src/http/idempotency.ts";
import { problemOf } from "./problem-of.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

/** As if the server died each time right after its work was stored: no answer is noted, and its claim runs out. */
async function startForgetful(): Promise<TestServer> {
  const storage = await openStorage("memory");
  onTestFinished(() => storage.close());
  const forgetful: Storage = {
    ...storage,
    claimIdempotencyKey: (claim) => storage.claimIdempotencyKey({ ...claim, ttl_ms: 0 }),
    renewIdempotencyKey: async () => undefined,
    saveIdempotentResponse: async () => undefined,
  };
  return startTestServer({ storage: forgetful });
}

async function post<T>({ ask }: TestServer, path: string, json: object, key?: string): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json", ...(key && { "Idempotency-Key": key }) };
  const response = await ask(path, { method: "POST", json, headers });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

it("a session, a fork, an artifact and a task are made once, though nobody could note that they were", async () => {
  const server = await startForgetful();
  const { id } = await server.createSession();
  await post(server, `/sessions/${id}/messages`, {
    content: "Create a file named a.txt containing exactly the word a",
  });
  const cases: [path: string, body: object, name: string][] = [
    ["/sessions", { title: "a" }, "id"],
    [`/sessions/${id}/fork`, {}, "id"],
    ["/artifacts", { name: "n", content: "c", session_id: id }, "id"],
    ["/artifacts", { name: "n", content: "c", visibility: "public" }, "id"],
    ["/tasks", { query: "q" }, "task_id"],
    ["/tasks", { query: "q", conversation_id: id, user_id: "ann" }, "task_id"],
  ];
  for (const [path, body, name] of cases) {
    const send = (key: string) => post<Record<string, string>>(server, path, body, key);
    const first = await send(`${path} ${name}`);
    expect(await send(`${path} ${name}`), path).toEqual(first);
    expect((await send("another key"))[name], path).not.toBe(first[name]);
  }
  const { artifacts } = (await (await server.ask(`/artifacts?session_id=${id}`)).json()) as { artifacts: unknown[] };
  expect(artifacts).toHaveLength(4);
  expect(server.faults).toEqual([]);
});

it("a fork that is found again has its files", async () => {
  const server = await startForgetful();
  const { id } = await server.createSession();
  await post(server, `/sessions/${id}/messages`, {
    content: "Create a file named a.txt containing exactly the word a",
  });
  const { id: fork } = await post<Session>(server, `/sessions/${id}/fork`, {}, "key");
  expect((await post<Session>(server, `/sessions/${id}/fork`, {}, "key")).id).toBe(fork);
  expect(await (await server.ask(`/sessions/${fork}/files/a.txt`)).text()).toBe("a");
});

it("a task's message is added once, and a run resumed once", async () => {
  const server = await startForgetful();
  const { task_id, conversation_id } = await post<Task>(server, "/tasks", { query: "q" });
  for (const key of ["first", "first", "second"]) {
    await post(server, `/tasks/${task_id}/messages`, { role: "user", content: "Hello" }, key);
  }
  expect(await server.storage.getMessagesBySession(conversation_id)).toMatchObject({ total: 2 });

  const { id } = await server.createSession({ config: { recursion_limit: 1 } });
  await post(server, `/sessions/${id}/messages`, { content: "Hello" });
  const resumed = await post<Run>(server, `/sessions/${id}/resume`, {}, "resume");
  expect(await post<Run>(server, `/sessions/${id}/resume`, {}, "resume")).toEqual(resumed);
  expect(await server.storage.countRuns(id)).toBe(2);
});

/** Counts what is kept of answers. */
async function startCounting(): Promise<{ server: TestServer; kept: () => number }> {
  const storage = await openStorage("memory");
  onTestFinished(() => storage.close());
  let kept = 0;
  const counting: Storage = {
    ...storage,
    saveIdempotentResponse: async (answer) => {
      kept += JSON.stringify(answer.response).length;
      return storage.saveIdempotentResponse(answer);
    },
  };
  return { server: await startTestServer({ storage: counting }), kept: () => kept };
}

it("what a search found is not kept", async () => {
  const { server, kept } = await startCounting();
  const item = { namespace: ["n"], key: "k", value: { text: "x".repeat(100_000) } };
  expect((await server.ask("/store/items", { method: "PUT", json: item })).status).toBe(200);
  for (let time = 1; time <= 2; time++) {
    const found = await post(server, "/store/search", { namespace_prefix: ["n"] }, "key");
    expect(found).toMatchObject({ items: [item], has_more: false });
  }
  expect(kept()).toBeLessThan(1_000);
});

it("a task's conversation is not kept once more for each request that was answered with it", async () => {
  const { server, kept } = await startCounting();
  const { task_id, conversation_id } = await post<Task>(server, "/tasks", { query: "q" });
  const requests: [path: string, body: object, key: string][] = [
    ...Array.from({ length: 5 }, (_, n): [string, object, string] => [
      `/tasks/${task_id}/messages`,
      { role: "user", content: n === 0 ? "Hello" : String(n).repeat(60_000) },
      `message ${n}`,
    ]),
    [`/tasks/${task_id}/continue`, {}, "continue"],
    ["/tasks", { query: "another", conversation_id }, "start"],
  ];
  const answers = new Map<string, Task>();
  for (const [path, body, key] of requests) answers.set(key, await post<Task>(server, path, body, key));
  expect(kept()).toBeLessThan(150_000);
  for (const [path, body, key] of requests) {
    const { task_id: id, conversation } = await post<Task>(server, path, body, key);
    expect([id, conversation.messages.length], key).toEqual([answers.get(key)?.task_id, key === "message 0" ? 1 : 5]);
  }
  const [path, , key] = requests[3] as [string, object, string];
  const other = { method: "POST", json: { role: "user", content: "other" }, headers: { "Idempotency-Key": key } };
  expect(await problemOf(server.ask(path, other))).toMatchObject({ code: "idempotency_mismatch" });
  expect(await server.storage.getMessagesBySession(conversation_id)).toMatchObject({ total: 5 });
  await post(server, `/tasks/${answers.get("start")?.task_id}/complete`, {});
  const started = { method: "POST", json: requests.at(-1)?.[1], headers: { "Idempotency-Key": "start" } };
  expect(await problemOf(server.ask("/tasks", started))).toMatchObject({ code: "task_completed" });
  expect(server.faults).toEqual([]);
});

it("a key whose request was refused is free at once, also for another body", async () => {
  const server = await startTestServer();
  const send = (json: object) =>
    server.ask("/artifacts", { method: "POST", json, headers: { "Idempotency-Key": "key" } });
  const artifact = { name: "n", content: "c", session_id: "nobody" };
  expect(await problemOf(send(artifact))).toMatchObject({ code: "session_not_found" });
  expect((await send({ ...artifact, session_id: (await server.createSession()).id })).status).toBe(201);
});

it("a key whose request failed half-way is kept until it runs out, for nobody knows what was done", async () => {
  const storage = await openStorage("memory");
  onTestFinished(() => storage.close());
  let lost = true;
  const unsure: Storage = {
    ...storage,
    claimIdempotencyKey: (claim) => storage.claimIdempotencyKey({ ...claim, ttl_ms: 0 }),
    artifacts: {
      ...storage.artifacts,
      createArtifact: async (artifact) => {
        const made = await storage.artifacts.createArtifact(artifact);
        if (lost) throw new AppError("storage_unavailable", "The connection broke");
        return made;
      },
    },
  };
  const server = await startTestServer({ storage: unsure });
  const json = { name: "n", content: "c", visibility: "public" };
  const send = () => server.ask("/artifacts", { method: "POST", json, headers: { "Idempotency-Key": "key" } });
  expect(await problemOf(send())).toMatchObject({ code: "storage_unavailable" });
  lost = false;
  expect((await send()).status).toBe(201);
  expect((await storage.artifacts.listArtifacts({})).total).toBe(1);
});

it("a request is the same one in whatever order its fields stand, at any depth", async () => {
  const server = await startTestServer();
  const send = (body: string) =>
    server.ask("/sessions", { method: "POST", body, headers: { "Idempotency-Key": "key" } });
  const first = await (await send('{"title":"t","metadata":{"a":"1","b":"2"}}')).json();
  expect(await (await send('{"metadata":{"b":"2","a":"1"},"title":"t"}')).json()).toEqual(first);
  const other = send('{"title":"t","metadata":{"a":"2","b":"1"}}');
  expect(await problemOf(other)).toMatchObject({ code: "idempotency_mismatch" });
});

/** Someone else is at work on every key, or this one is, for as long as `renewIdempotencyKey` is called in time. */
function keysOf(state: "new" | "pending") {
  return {
    claimIdempotencyKey: vi.fn(async () => ({ state, since: "2030-01-01T00:00:00.000Z" })),
    renewIdempotencyKey: vi.fn(async () => undefined),
    releaseIdempotencyKey: vi.fn(async () => undefined),
    saveIdempotentResponse: vi.fn(async () => undefined),
  };
}

it("a key is renewed for as long as its request is worked on, or another would begin it a second time", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const keys = keysOf("new");
  const work = Promise.withResolvers<string>();
  const request = { key: "k", hash: "h", scope: undefined, signal: new AbortController().signal };
  const answer = createIdempotency(keys as never).once(request, () => work.promise);
  await vi.advanceTimersByTimeAsync(0);
  const [claim] = keys.claimIdempotencyKey.mock.calls[0] as unknown as [{ ttl_ms: number }];
  for (let renewed = 1; renewed <= 3; renewed++) {
    await vi.advanceTimersByTimeAsync(claim.ttl_ms - 1);
    expect(keys.renewIdempotencyKey.mock.calls.length).toBeGreaterThanOrEqual(renewed);
  }
  expect(keys.renewIdempotencyKey).toHaveBeenLastCalledWith({ key: "k", scope: {}, ttl_ms: claim.ttl_ms });
  work.resolve("done");
  expect(await answer).toBe("done");
  keys.renewIdempotencyKey.mockClear();
  await vi.advanceTimersByTimeAsync(10 * claim.ttl_ms);
  expect(keys.renewIdempotencyKey).not.toHaveBeenCalled();
});

it("whoever waits for the first request of a key, and leaves, asks for it no more", async () => {
  const keys = keysOf("pending");
  const client = new AbortController();
  const request = { key: "k", hash: "h", scope: undefined, signal: client.signal };
  const answer = createIdempotency(keys as never).once(request, () => Promise.reject(new Error("not its work")));
  await vi.waitFor(() => expect(keys.claimIdempotencyKey).toHaveBeenCalled());
  client.abort();
  await expect(answer).rejects.toMatchObject({ code: "draining" });
});
