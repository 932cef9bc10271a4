import { request } from "node:http";
import { expect, it } from "vitest";
import { defaultConfig } from "../../../src/config.ts";
import { problemOf } from "../problem-of.ts";
import { startTestServer, type TestServer } from "../test-server.ts";

const MAX = 3;
const ann = { "X-Cognition-Scope-User": "ann" };
const ben = { "X-Cognition-Scope-User": "ben" };

async function start(): Promise<TestServer> {
  const config = defaultConfig();
  return startTestServer({ config: { ...config, rate_limit: { ...config.rate_limit, open: MAX } } });
}

/** An open stream of the session, ended by its reader. */
async function openStream({ fetch }: TestServer, session_id: string, headers: Record<string, string>) {
  const reader = new AbortController();
  const accept = { Accept: "text/event-stream" };
  const response = await fetch(`/sessions/${session_id}/events`, {
    headers: { ...headers, ...accept },
    signal: reader.signal,
  });
  expect(response.status).toBe(200);
  return () => reader.abort();
}

it("a scope that holds as many streams as it may gets no more, and nothing is begun; others and those without one do", async () => {
  const at = await start();
  const { id } = await at.createSession({}, ann);
  const { id: other } = await at.createSession({}, ben);
  const open = [];
  for (let count = 0; count < MAX; count++) open.push(await openStream(at, id, ann));
  const message = { method: "POST", headers: ann, json: { content: "Hello" } };
  expect(await problemOf(at.fetch(`/sessions/${id}/messages`, message))).toMatchObject({
    status: 429,
    code: "rate_limited",
    details: { limit: "open_requests", max: MAX },
  });
  expect(await at.storage.countRuns(id)).toBe(0);
  expect((await at.fetch(`/sessions/${other}`, { headers: ben })).status).toBe(200);
  expect((await at.fetch("/ready")).status).toBe(200);
  expect((await at.fetch(`/sessions/${id}`)).status).toBe(200);
  open.pop()?.();
  await expect.poll(async () => (await at.fetch(`/sessions/${id}`, { headers: ann })).status).toBe(200);
  for (const close of open) close();
});

it("what has ended counts no more: answers, refusals, and requests whose client went away before their end", async () => {
  const at = await start();
  const { id } = await at.createSession({}, ann);
  for (let count = 0; count < 3 * MAX; count++) {
    expect((await at.fetch(`/sessions/${id}`, { headers: ann })).status).toBe(200);
    expect((await at.fetch("/sessions/none", { headers: ann })).status).toBe(404);
  }
  const headers = { ...ann, "Content-Length": "1000", "Content-Type": "application/json" };
  const slow = Array.from({ length: MAX }, () => {
    const asked = request(`${at.server.url}/sessions`, { method: "POST", headers });
    asked.on("error", () => undefined).write("{");
    return asked;
  });
  const statusNow = async () => (await at.fetch(`/sessions/${id}`, { headers: ann })).status;
  await expect.poll(statusNow).toBe(429);
  for (const asked of slow) asked.destroy();
  await expect.poll(statusNow).toBe(200);
});
