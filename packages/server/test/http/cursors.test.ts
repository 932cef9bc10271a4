import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { problemOf } from "./problem-of.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

type Listed = { id: string }[];
type Page = { total: number; has_more: boolean; next_cursor?: string } & Record<string, unknown>;

async function read({ ask }: TestServer, path: string, query: string): Promise<Page> {
  return (await (await ask(`${path}?${query}`)).json()) as Page;
}

/** Reads by twos, and lets something happen after the first page. */
async function readOn(server: TestServer, path: string, field: string, between: () => Promise<unknown>) {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(server, path, `limit=2${cursor === undefined ? "" : `&cursor=${cursor}`}`);
    ids.push(...(page[field] as Listed).map(({ id }) => id));
    expect(page.has_more).toBe(page.next_cursor !== undefined);
    if (cursor === undefined) await between();
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return ids;
}

async function allOf(server: TestServer, path: string, field: string): Promise<string[]> {
  return ((await read(server, path, "limit=100"))[field] as Listed).map(({ id }) => id);
}

async function say({ ask }: TestServer, session_id: string, more: object = {}): Promise<void> {
  const headers = { Accept: "application/json" };
  const json = { content: "Hello", ...more };
  const response = await ask(`/sessions/${session_id}/messages`, { method: "POST", headers, json });
  expect(response.status).toBe(200);
}

it("messages and runs that come meanwhile shift no page", async () => {
  const server = await startTestServer();
  const { id } = await server.createSession();
  for (let n = 0; n < 3; n++) await say(server, id);
  for (const [path, field] of [
    [`/sessions/${id}/messages`, "messages"],
    [`/sessions/${id}/runs`, "runs"],
  ] as const) {
    const before = await allOf(server, path, field);
    expect(await readOn(server, path, field, () => say(server, id))).toEqual(before);
    expect(await problemOf(server.ask(`${path}?cursor=${before[0]}&offset=1`))).toMatchObject({
      status: 422,
      errors: [{ loc: ["query", "cursor"] }],
    });
  }
  expect(await problemOf(server.ask(`/sessions/${id}/runs?cursor=x`))).toMatchObject({ status: 422 });
  const unknown = await problemOf(server.ask(`/sessions/${id}/messages?cursor=x`));
  expect(unknown).toMatchObject({ status: 404, code: "message_not_found" });
});

it("messages of another branch have pages that go on past a message as well", async () => {
  const server = await startTestServer();
  const { id } = await server.createSession();
  for (let n = 0; n < 2; n++) await say(server, id);
  const { checkpoints } = (await (await server.ask(`/sessions/${id}/checkpoints`)).json()) as { checkpoints: Listed };
  const branch = `checkpoint_id=${checkpoints[0]?.id}&order=asc`;
  const path = `/sessions/${id}/messages`;
  const all = (await read(server, path, branch))["messages"] as Listed;
  expect(all.length).toBe(4);
  const rest = await read(server, path, `${branch}&limit=2&cursor=${all[0]?.id}`);
  expect([rest["messages"], rest.has_more, rest.next_cursor]).toEqual([all.slice(1, 3), true, all[2]?.id]);
  const unknown = await problemOf(server.ask(`${path}?${branch}&cursor=x`));
  expect(unknown).toMatchObject({ status: 404, code: "message_not_found" });
});

it("artifacts that come and go shift no page", async () => {
  const server = await startTestServer();
  const create = async () => {
    const json = { name: "a", content: "a", visibility: "public" };
    return ((await (await server.ask("/artifacts", { method: "POST", json })).json()) as { id: string }).id;
  };
  for (let n = 0; n < 5; n++) await create();
  const before = await allOf(server, "/artifacts", "artifacts");
  const between = async () => {
    await create();
    await server.ask(`/artifacts/${before[1]}`, { method: "DELETE" });
  };
  expect(await readOn(server, "/artifacts", "artifacts", between)).toEqual(before);
});

it("versions of an artifact that come meanwhile shift no page", async () => {
  const server = await startTestServer();
  const json = { name: "a", content: "1", visibility: "public" };
  const { id } = (await (await server.ask("/artifacts", { method: "POST", json })).json()) as { id: string };
  const change = (content: string) => server.ask(`/artifacts/${id}`, { method: "PUT", json: { content } });
  for (let n = 2; n <= 5; n++) await change(String(n));
  const path = `/artifacts/${id}/versions`;
  const versionsOf = (page: Page) => (page["versions"] as { version: number }[]).map(({ version }) => version);
  const first = await read(server, path, "limit=2");
  expect([versionsOf(first), first.total, first.has_more]).toEqual([[5, 4], 5, true]);
  await change("6");
  const second = await read(server, path, `limit=2&cursor=${first.next_cursor}`);
  expect([versionsOf(second), second.total, second.has_more]).toEqual([[3, 2], 6, true]);
  const last = await read(server, path, `limit=2&cursor=${second.next_cursor}`);
  expect([versionsOf(last), last.has_more, last.next_cursor]).toEqual([[1], false, undefined]);
  for (const query of ["cursor=x", "cursor=3&offset=1"]) {
    expect(await problemOf(server.ask(`${path}?${query}`))).toMatchObject({ errors: [{ loc: ["query", "cursor"] }] });
  }
});

it("a list that stands still has no cursor", async () => {
  const server = await startTestServer();
  for (const path of ["/agents", "/skills", "/tools", "/models", "/models/providers"]) {
    expect(await problemOf(server.ask(`${path}?cursor=x`)), path).toMatchObject({ status: 422 });
  }
});

it("deliveries that come meanwhile shift no page", async () => {
  const receiver = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  onTestFinished(() => void receiver.close());
  await new Promise((resolve) => receiver.once("listening", resolve));
  const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const config = defaultConfig();
  const webhooks = { ...config.webhooks, allow_addresses: ["127.0.0.1"] };
  const server = await startTestServer({ config: { ...config, webhooks } });
  const { id } = await server.createSession();
  for (let n = 0; n < 3; n++) await say(server, id, { callback_url });
  const before = await allOf(server, "/deliveries", "deliveries");
  expect(before).toHaveLength(3);
  expect(await readOn(server, "/deliveries", "deliveries", () => say(server, id, { callback_url }))).toEqual(before);
});
