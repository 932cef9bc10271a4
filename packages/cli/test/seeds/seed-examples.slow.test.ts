import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createClient } from "@cognition/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { openai } from "../../../server/test/model/openai-server.ts";
import { openScriptedServer } from "../../../server/test/model/scripted-server.ts";
import { openReceiver } from "../../../server/test/webhook/receiver.ts";
import { type Served, startServe } from "../cli-process.ts";

/** The examples of the documents this product was ordered from, letter by letter; only the address and the ids are filled in. */
function examplesOf(file: string): string[] {
  const blocks = readFileSync(join(import.meta.dirname, file), "utf8").split(/\n(?=# )/);
  return blocks.map((block) => block.replace(/^#.*\n/, "").trim());
}

let dir: TempDir;
let open: Served[] = [];
beforeEach(() => {
  dir = createTempDir();
  mkdirSync(join(dir.path, ".cognition/agents"), { recursive: true });
});
afterEach(async () => {
  for (const { child } of open) child.kill("SIGKILL");
  await Promise.all(open.map(({ exited }) => exited));
  open = [];
  dir.remove();
});

async function serve(config: string, env: Record<string, string> = {}): Promise<Served> {
  writeFileSync(join(dir.path, ".cognition/config.yaml"), config);
  const served = await startServe(["--quiet"], { cwd: dir.path, env });
  open.push(served);
  return served;
}

/** Runs an example in a shell. `-f` makes curl fail on an error's status, `-sS` leaves its progress bar out. */
async function shell(example: string | undefined, { url }: Served, session_id = ""): Promise<string> {
  const command = (example ?? "")
    .replace(/^curl /, "curl -sS --fail-with-body ")
    .replace("http://localhost:8000", `http://localhost:${new URL(url).port}`)
    .replace(/\{(session_)?id\}/, session_id);
  const env = { PATH: process.env["PATH"], SESSION: session_id, no_proxy: "localhost" };
  const child = spawn("bash", ["-e", "-c", command], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const output = await text(child.stdout);
  expect(await ended, output).toEqual([0, null]);
  return output;
}

const json = async (...args: Parameters<typeof shell>) => JSON.parse(await shell(...args));

test("sessions: made, switched to another agent and model, tagged and found", async () => {
  await using provider = await openScriptedServer();
  provider.script(openai.says("Fine."));
  writeFileSync(
    join(dir.path, ".cognition/agents/security-auditor.md"),
    "---\nname: security-auditor\ndescription: Looks for holes.\n---\nYou audit.\n",
  );
  const settings = { id: "openai", provider: "openai", model: "gpt-4o", base_url: provider.url };
  const host = new URL(provider.url).host;
  const models = { providers: [{ ...settings, api_key_env: "OPENAI_API_KEY" }], key_hosts: { OPENAI_API_KEY: [host] } };
  const served = await serve(JSON.stringify({ models }), { OPENAI_API_KEY: "sk-test" });
  const [first, review, toAuditor, plain, readonly, tagged, toModel, retag, byRepository, byNumber, ...more] =
    examplesOf("sessions.sh");
  expect(more).toEqual([]);

  const made = await json(first, served);
  expect(made).toMatchObject({ title: "Default Agent Session", agent_name: "default", status: "active" });
  expect(await json(review, served)).toMatchObject({ title: "Code Review", agent_name: "readonly" });
  expect(await json(toAuditor, served, made.id)).toMatchObject({ id: made.id, agent_name: "security-auditor" });

  const other = await json(plain, served);
  expect(other).toMatchObject({ title: "My session", agent_name: "default" });
  expect(await json(readonly, served)).toMatchObject({ title: "Code review", agent_name: "readonly" });
  const metadata = { workflow_id: "pr-review", repository: "myorg/myrepo", pr_number: "42" };
  const forPr = await json(tagged, served);
  expect(forPr).toMatchObject({ title: "PR review session", metadata });
  const config = { model: "gpt-4o-mini", temperature: 0.2 };
  expect(await json(toModel, served, other.id)).toMatchObject({ id: other.id, config });
  expect(await json(retag, served, other.id)).toMatchObject({ id: other.id, metadata });
  const ids = [other.id, forPr.id].sort();
  for (const search of [byRepository, byNumber]) {
    const { sessions, total } = await json(search, served);
    expect({ total, ids: sessions.map(({ id }: { id: string }) => id).sort() }).toEqual({ total: 2, ids });
  }

  // What was overridden is what the provider is asked for; what the new agent is told comes with its next message.
  const client = createClient({ baseUrl: served.url });
  await client.sendMessage(other.id, "Hello").rest();
  expect(provider.requests.at(-1)?.body).toMatchObject(config);
  await client.sendMessage(made.id, "Hello").rest();
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("You audit.");
});

test("messages: streamed, called back, listed by pages, aborted", async () => {
  await using receiver = await openReceiver();
  const served = await serve(JSON.stringify({ webhooks: { allow_addresses: ["127.0.0.1"] } }));
  const client = createClient({ baseUrl: served.url });
  const { id } = await client.createSession();
  const [stream, callback, firstPage, secondPage, abort, ...more] = examplesOf("messages.sh");
  expect(more).toEqual([]);

  const events = await shell(stream, served, id);
  expect(events).toMatch(/\nid: \d+\nevent: tool_call\ndata: \{[^\n]*"name":"ls"/);
  expect(events).toMatch(/\nid: \d+\nevent: token\ndata: \{[^\n]*"content":/);
  expect(events).toMatch(/\nid: \d+\nevent: done\ndata: \{[^\n]*"assistant_data":\{[^\n]*\n\n$/);

  // Nothing is sent to others' machines: the receiver stands here for example.com.
  const here = callback?.replace("https://example.com/cognition-callback", receiver.url);
  expect(here).not.toBe(callback);
  expect(await shell(here, served, id)).toMatch(/event: done\n/);
  await expect.poll(() => receiver.received.length).toBe(1);
  const told = JSON.parse(receiver.received[0]?.body ?? "");
  const names = ["completed_at", "message_id", "model_used", "output", "session_id", "status", "token_usage"];
  expect(Object.keys(told).sort()).toEqual(names);
  expect(told).toMatchObject({ session_id: id, status: "done", token_usage: { input: expect.any(Number) } });

  for (let n = 0; n < 23; n++) await client.sendMessage(id, `Say ${n}`).rest();
  const newest = await json(firstPage, served, id);
  const older = await json(secondPage, served, id);
  expect(newest).toMatchObject({ total: newest.messages.length + older.messages.length, has_more: true });
  expect(newest.messages).toHaveLength(50);
  expect(older).toMatchObject({ has_more: false });
  expect(older.messages.at(-1)).toMatchObject({ role: "user", content: "List the files in this directory." });

  const run = await client.submitMessage(id, "Run the command: sleep 60");
  expect(await json(abort, served, id)).toEqual({ success: true, message: "Operation aborted", aborted: [run.id] });
  const end = await client.followRun(id, run.id).rest();
  expect(end).toMatchObject({ event: "done", data: { status: "aborted" } });
});

test("a thread is resumed with the SDK, even after the server was killed", async () => {
  const first = await serve("{}");
  let api = createClient({ baseUrl: first.url });

  // Create a new Thread (Session)
  const session = await api.createSession({
    title: "Investigation #99",
  });
  await api.sendMessage(session.id, "Say hello").rest();
  first.child.kill("SIGKILL");
  await first.exited;
  api = createClient({ baseUrl: (await serve("{}")).url });

  // Resume an existing Thread (even after server restart)
  const history = await api.getMessages(session.id);

  expect(history.messages.map(({ role }) => role)).toEqual(["assistant", "user"]);
  expect(history.messages[1]?.content).toBe("Say hello");
  expect((await api.getSession(session.id)).title).toBe("Investigation #99");
});

test("scopes: the headers and the settings as they are written down", async () => {
  const { url } = await serve('scoping:\n  enabled: true\n  keys: ["user", "project"]\n');
  const alice = { "X-Cognition-Scope-User": "alice", "X-Cognition-Scope-Project": "breachlens" };
  const list = (headers: Record<string, string>) => fetch(`${url}/sessions`, { headers });
  const made = await fetch(`${url}/sessions`, { method: "POST", headers: alice, body: "{}" });
  expect(await made.json()).toMatchObject({ scopes: { user: "alice", project: "breachlens" } });
  expect(await (await list(alice)).json()).toMatchObject({ total: 1 });
  expect(await (await list({ ...alice, "X-Cognition-Scope-Project": "other" })).json()).toMatchObject({ total: 0 });
  const missing = await list({ "X-Cognition-Scope-User": "alice" });
  expect(missing.status).toBe(403);
  expect(await missing.json()).toMatchObject({ detail: expect.stringContaining("X-Cognition-Scope-Project") });
});
