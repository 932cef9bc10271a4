import { execFileSync } from "node:child_process";
import { createClient, type SessionEvent } from "@cognition/client";
import { defaultConfig, type RunningServer, startServer } from "@cognition/server";
import { openStorage, type Storage } from "@cognition/thread";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";
import { runInProcess } from "./run-in-process.ts";

const dir = createTempDir();
let storage: Storage;
let server: RunningServer;
let proxy: CuttingProxy;

beforeAll(async () => {
  const config = defaultConfig();
  storage = await openStorage("memory");
  server = await startServer({
    storage,
    workspace_root: dir.path,
    env: {},
    config: { ...config, sse: { ...config.sse, retry_interval: 1 } },
    port: 0,
    check_replies: true,
    onError: (error) => {
      throw error;
    },
  });
  await direct().createAgent({
    name: "careful",
    description: "Asks first.",
    system_prompt: "Be careful.",
    interrupt_on: { execute: true },
  });
});
afterAll(async () => {
  await server.close();
  await storage.close();
  dir.remove();
});
beforeEach(async () => {
  proxy = await startCuttingProxy(server.url);
});
afterEach(() => proxy.close());

// Each connection is used once, so that the proxy's n-th connection is the n-th answer.
const headers = { connection: "close" };
const direct = () => createClient({ baseUrl: server.url });
const cutOff = () => createClient({ baseUrl: proxy.url, headers, wait: async () => {} });

async function collect(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const seen: SessionEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

/** Bytes of an answer until it has told where the stream stands. */
async function openingLength(session_id: string): Promise<number> {
  const before = proxy.passed;
  const stop = new AbortController();
  const accept = { ...headers, accept: "text/event-stream" };
  const response = await fetch(`${proxy.url}/sessions/${session_id}/events`, { headers: accept, signal: stop.signal });
  const reader = response.body?.getReader();
  for (let text = ""; !/id: \d+\n\n/.test(text); ) text += new TextDecoder().decode((await reader?.read())?.value);
  stop.abort();
  return proxy.passed - before;
}

async function logOf(session_id: string): Promise<SessionEvent[]> {
  const { events } = await direct().listEvents(session_id, { after: 0, limit: 1000 });
  return events.map(({ id, event, data }) => ({ id, event, data }) as SessionEvent);
}

describe("the client on a real server", () => {
  test("a run's events are the log's", async () => {
    const client = direct();
    const { id } = await client.createSession({ title: "Investigation #99" });
    const events = await collect(client.sendMessage(id, "Create a file named a.txt containing exactly the word hello"));
    expect(events).toEqual(await logOf(id));
    expect(events.map((event) => event.event)).toContain("tool_call");
    expect((await client.getMessages(id, { order: "asc" })).messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
  });

  test("cut at every byte of a run's stream, the joined events are the log's", {
    timeout: 300_000,
    tags: "long",
  }, async () => {
    const client = direct();
    const { id } = await client.createSession();
    const sent = client.sendMessage(id, "hello");
    await sent.rest();
    const log = await logOf(id);
    await collect(cutOff().followRun(id, sent.run_id ?? ""));
    const length = proxy.passed;
    expect(length).toBeGreaterThan(500);
    // Every byte of the head, of the first events and of the end; between them text like that before it. The client's own
    // tests cut everywhere, on a stream that costs nothing to make.
    const isTried = (at: number) => at < 600 || at > length - 60 || at % 41 === 0;
    for (let at = 0; at < length; at++) {
      if (!isTried(at)) continue;
      proxy.cut([at]);
      expect(await collect(cutOff().followRun(id, sent.run_id ?? "")), `cut at byte ${at}`).toEqual(log);
    }
  });

  test("cut while the run works, a message is sent once and each event comes once", { timeout: 300_000 }, async () => {
    const client = direct();
    for (let round = 0; round < 20; round++) {
      const { id } = await client.createSession();
      // Before the answer, inside its head, between it and the first event, and inside events.
      proxy.cut([round * 41, 350 + round * 19, round * 53]);
      const seen = await collect(cutOff().sendMessage(id, "hello"));
      expect(seen, `round ${round}`).toEqual(await logOf(id));
      expect(await client.getMessages(id, { role: "user" })).toMatchObject({ total: 1 });
    }
  });

  test("a whole session is followed over lost connections and several runs", async () => {
    const client = direct();
    const { id } = await client.createSession();
    const opening = await openingLength(id);
    const passed = proxy.passed;
    const seen: SessionEvent[] = [];
    // The third connection gets to say where it stands, and not one event.
    proxy.cut([0, 50, opening, opening + 100, opening + 900, 50, opening + 350, opening + 1200]);
    const following = (async () => {
      let done = 0;
      for await (const event of cutOff().followEvents(id)) {
        seen.push(event);
        if (event.event === "done" && ++done === 3) return;
      }
    })();
    await expect.poll(() => proxy.passed, { timeout: 50_000 }).toBeGreaterThanOrEqual(passed + 50 + opening);
    for (const word of ["one", "two", "three"]) await client.sendMessage(id, word).rest();
    await following;
    expect(seen).toEqual(await logOf(id));
  });

  test("an answered approval is followed to its end, not to the question before it", async () => {
    const client = direct();
    for (let round = 0; round < 10; round++) {
      const { id } = await client.createSession({ agent_name: "careful" });
      const asked = await client.sendMessage(id, "Run the command: echo done").rest();
      if (asked?.event !== "interrupt") throw new Error(`ended with ${asked?.event}`);
      const decisions = asked.data.interrupts.map((interrupt) => ({ id: interrupt.id, type: "approve" as const }));
      proxy.cut([(await openingLength(id)) + round * 12]);
      const rest = await cutOff().resumeAndFollow(id, { decisions }).rest();
      expect(rest, `round ${round}`).toMatchObject({ event: "done", data: { status: "succeeded" } });
    }
  });

  test("a run that was answered is followed past its old question, also after its end", async () => {
    const client = direct();
    const { id } = await client.createSession({ agent_name: "careful" });
    const first = client.sendMessage(id, "Run the command: echo done");
    const asked = await first.rest();
    const run_id = first.run_id ?? "";
    expect(await client.followRun(id, run_id).rest(), "nobody has answered").toEqual(asked);
    if (asked?.event !== "interrupt") throw new Error(`ended with ${asked?.event}`);
    const decisions = asked.data.interrupts.map((interrupt) => ({ id: interrupt.id, type: "approve" as const }));
    await client.resumeAndFollow(id, { decisions }).rest();
    expect(await collect(client.followRun(id, run_id))).toEqual(await logOf(id));
  });

  test("items of the memory are found under all labels of their namespace", async () => {
    const client = direct();
    const place = { namespace: ["users", "ann, bob"], key: "k" };
    await client.putStoreItem({ ...place, value: { a: 1 } });
    expect(await client.getStoreItem(place)).toMatchObject({ value: { a: 1 } });
    await client.deleteStoreItem(place);
    await expect(client.getStoreItem(place)).rejects.toMatchObject({ code: "store_item_not_found" });
  });

  test("a rewind prints the command that takes it back, at the same server and in the same scope", async () => {
    const scope = { user: "ann o'hara" };
    const client = createClient({ baseUrl: server.url, scope });
    const { id } = await client.createSession();
    await client.sendMessage(id, "hello").rest();
    const place = ["--url", server.url, "--scope", "user=ann o'hara"];
    const rewind = ["rewind", id, "--last", "turn", "--no-files", ...place];
    const look = await runInProcess([...rewind, "--dry-run"], { cwd: dir.path });
    expect(look).toMatchObject({ code: 0, output: "Would go back to before the first message.\n" });
    const back = await runInProcess(rewind, { cwd: dir.path });
    expect(back).toMatchObject({ code: 0, errors: "" });
    expect((await client.getSession(id)).message_count).toBe(0);
    const redo = /^Redo: cognition (.*)$/m.exec(back.output)?.[1] ?? "";
    expect(redo).toContain("--no-files");
    const words = execFileSync("sh", ["-c", `printf '%s\\n' ${redo}`], { encoding: "utf8" }).trimEnd();
    expect(await runInProcess(words.split("\n"), { cwd: dir.path })).toMatchObject({ code: 0, errors: "" });
    expect((await client.getSession(id)).message_count).toBe(2);
    const inRepository = await runInProcess(rewind, {
      cwd: dir.path,
      env: { npm_package_name: "cognition-workspace" },
    });
    expect(inRepository.output).toContain(`Redo: npm run cognition -- rewind ${id} --no-files`);
  });

  test("errors are the server's own", async () => {
    const client = direct();
    await expect(client.getSession("nobody")).rejects.toMatchObject({ code: "session_not_found" });
    await expect(client.createSession({ agent_name: "nobody" })).rejects.toMatchObject({ code: "unknown_agent" });
    await expect(collect(client.sendMessage("nobody", "hello"))).rejects.toMatchObject({ code: "session_not_found" });
    const wrong: object = { titel: "x" };
    await expect(client.createSession(wrong)).rejects.toMatchObject({
      code: "validation_failed",
      details: { status: 422 },
    });
  });

  test("the same key is the same session", async () => {
    const client = direct();
    const options = { idempotencyKey: "once" };
    const first = await client.createSession({ title: "a" }, options);
    expect(await client.createSession({ title: "a" }, options)).toEqual(first);
    await expect(client.createSession({ title: "b" }, options)).rejects.toMatchObject({ code: "idempotency_mismatch" });
  });
});
