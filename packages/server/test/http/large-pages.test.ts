import type { Message, StoredEvent } from "@cognition/contract";
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
