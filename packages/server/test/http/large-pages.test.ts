import type { Message, StoredEvent, Task } from "@cognition/contract";
import { HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { startTestServer, type TestServer } from "./test-server.ts";

const COUNT = 200;
const LIMIT = 150;

async function json<T>(server: TestServer, path: string, init?: Parameters<TestServer["ask"]>[1]): Promise<T> {
  return (await server.ask(path, init)).json() as Promise<T>;
}

it("a page that is read in portions is the page: each row once, in order, and what comes after it", async () => {
  const server = await startTestServer();
  const { id } = await server.createSession();
  const ids = Array.from({ length: COUNT }, (_, n) => `m${n}`);
  for (const message of ids) {
    await server.storage.createMessage({ id: message, session_id: id, role: "user", content: message });
  }
  const events = ids.map((content) => ({ event: "token" as const, data: { content } }));
  const told = await server.storage.appendEvents({ session_id: id, events });

  const read = (query: string) =>
    json<{ messages: Message[]; total: number; has_more: boolean; next_cursor?: string }>(
      server,
      `/sessions/${id}/messages?limit=${LIMIT}&${query}`,
    );
  for (const [order, all] of [
    ["asc", ids],
    ["desc", ids.toReversed()],
  ] as const) {
    const page = await read(`order=${order}`);
    expect(page.messages.map((message) => message.id)).toEqual(all.slice(0, LIMIT));
    expect(page).toMatchObject({ total: COUNT, has_more: true, next_cursor: all[LIMIT - 1] });
    const rest = await read(`order=${order}&cursor=${page.next_cursor}`);
    expect(rest.messages.map((message) => message.id)).toEqual(all.slice(LIMIT));
    expect(rest).toMatchObject({ total: COUNT, has_more: false });
    const later = await read(`order=${order}&offset=3`);
    expect(later.messages.map((message) => message.id)).toEqual(all.slice(3, 3 + LIMIT));
  }

  const log = (after: number) =>
    json<{ events: StoredEvent[]; has_more: boolean }>(server, `/sessions/${id}/events?after=${after}&limit=${LIMIT}`);
  const first = told[0]?.id ?? 0;
  const page = await log(first - 1);
  expect([page.events, page.has_more]).toEqual([told.slice(0, LIMIT), true]);
  const rest = await log(page.events.at(-1)?.id ?? 0);
  expect([rest.events, rest.has_more]).toEqual([told.slice(LIMIT), false]);
});

it("a page whose middle a rewind takes away while it is read is read from its beginning once more", async () => {
  const first = await startTestServer();
  const { id } = await first.createSession();
  const { storage } = first;
  const say = (ids: readonly string[]) =>
    Promise.all(ids.map((one) => storage.createMessage({ id: one, session_id: id, role: "user", content: one })));
  await say(Array.from({ length: COUNT }, (_, n) => `m${n}`));
  let reads = 0;
  const getMessagesBySession: typeof storage.getMessagesBySession = async (...args) => {
    if (++reads === 2) {
      await storage.deleteMessagesForSession(id);
      await say(["new"]);
    }
    return storage.getMessagesBySession(...args);
  };
  const server = await startTestServer({ storage: { ...storage, getMessagesBySession } });
  const page = await server.ask(`/sessions/${id}/messages?limit=${LIMIT}&order=asc`);
  expect([page.status, await page.json()]).toMatchObject([200, { messages: [{ id: "new" }], total: 1 }]);
  // What the caller named himself is for him to know.
  const past = await server.ask(`/sessions/${id}/messages?limit=${LIMIT}&cursor=m1`);
  expect([past.status, await past.json()]).toMatchObject([404, { code: "message_not_found" }]);
});

it("one of another branch is refused as well, if it is larger than an answer may be", { tags: "long" }, async () => {
  const server = await startTestServer();
  const { id, thread_id } = await server.createSession();
  const messages = Array.from(
    { length: 70 },
    (_, n) => new HumanMessage({ id: `m${n}`, content: "x".repeat(1_000_000) }),
  );
  const versions = { messages: 1 };
  const checkpoint = { ...emptyCheckpoint(), channel_values: { messages }, channel_versions: versions };
  const saver = await server.storage.getCheckpointer();
  const config = { configurable: { thread_id, checkpoint_ns: "" } };
  await saver.put(config, checkpoint, { source: "input", step: -1, parents: {} }, versions);
  const list = (limit: number) => server.ask(`/sessions/${id}/messages?limit=${limit}&checkpoint_id=${checkpoint.id}`);
  const refused = await list(70);
  expect([refused.status, await refused.json()]).toMatchObject([422, { code: "limit_exceeded" }]);
  expect((await list(10)).status).toBe(200);
});

it("a task whose conversation is larger than an answer may be is refused before it is read, and can be completed", async () => {
  const server = await startTestServer();
  const { task_id, conversation_id: session_id } = await json<Task>(server, "/tasks", {
    method: "POST",
    json: { query: "q" },
  });
  for (let n = 0; n < 34; n++)
    await server.storage.createMessage({ session_id, role: "user", content: "x".repeat(1_000_000) });
  const path = `/tasks/${task_id}`;
  for (const [method, at, body] of [
    ["GET", path],
    ["POST", `${path}/continue`, {}],
    ["POST", `${path}/messages`, { role: "user", content: "not stored" }],
    ["POST", "/tasks", { query: "q", conversation_id: session_id }],
  ] as const) {
    const refused = await server.ask(at, { method, ...(body && { json: body }) });
    const answer = (await refused.json()) as { detail: string };
    expect([at, refused.status, answer]).toMatchObject([at, 422, { code: "limit_exceeded" }]);
    expect(answer.detail).toContain(session_id);
  }
  expect(await server.storage.getSession(session_id)).toMatchObject({ message_count: 34 });
  expect(await server.storage.tasks.listTasks()).toHaveLength(1);
  expect(await json(server, `${path}/complete`, { method: "POST", json: {} })).toMatchObject({ task_id });
});

it("one that is larger than an answer may be is refused before the rest of it is read; a smaller one is given", {
  tags: "long",
}, async () => {
  const server = await startTestServer();
  const store = await server.storage.getStore({});
  const value = { text: "x".repeat(1_000_000) };
  for (let n = 0; n < COUNT; n++) await store.put(["big"], `k${String(n).padStart(3, "0")}`, value);
  let reads = 0;
  const { storage } = server;
  const counted: typeof storage.getStore = async (scope) => {
    const real = await storage.getStore(scope);
    const search: typeof real.search = (...args) => {
      reads++;
      return real.search(...args);
    };
    return Object.assign(Object.create(real), { search });
  };
  const counting = await startTestServer({ storage: { ...storage, getStore: counted } });
  const search = (limit: number) =>
    counting.ask("/store/search", { method: "POST", json: { namespace_prefix: ["big"], limit } });
  const refused = await search(COUNT);
  expect([refused.status, await refused.json()]).toMatchObject([422, { code: "limit_exceeded" }]);
  expect(reads).toBe(2);
  const given = await search(20);
  expect(((await given.json()) as { items: unknown[] }).items).toHaveLength(20);
});
