import type { Chat, ChatMessagePage, MessagePage, Session } from "@cognition/contract";
import { createMemorySessionStore, registerChatBackend, type Storage } from "@cognition/thread";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";

async function json<T>(answer: Promise<Response>, status = 200): Promise<T> {
  const response = await answer;
  const text = await response.text();
  expect(response.status, text).toBe(status);
  return JSON.parse(text) as T;
}

const put = (at: TestServer, path: string, body = {}, headers = {}) =>
  json<Chat>(at.ask(path, { method: "PUT", json: body, headers }));

async function say(at: TestServer, { session_id }: Chat, content: string): Promise<void> {
  const response = await at.fetch(`/sessions/${session_id}/messages`, { method: "POST", json: { content } });
  expect(await response.text()).toContain("event: done");
}

async function spend(storage: Storage, session_id: string, estimated_cost: number): Promise<void> {
  const { claimed } = await storage.createRun({ session_id, claim: { owner: "test", lease_ms: 60_000 } });
  if (!claimed) throw new Error("a run of a free session was not begun");
  const used = { input_tokens: 1, output_tokens: 1, estimated_cost };
  const usage = { ...used, provider: "p", model: "m", by_model: { m: used } };
  const data = { status: "succeeded", assistant_data: null, message_id: null };
  await storage.finishRun(claimed, { status: "succeeded", usage, events: [{ event: "done", data }] });
}

describe("a chat", () => {
  it("is a key to a session, whose messages are its log", async () => {
    const at = await startTestServer();
    const chat = await put(at, "/chats/alice/main");
    expect(chat).toMatchObject({ user_id: "alice", chat_id: "main", mode: "plan", is_active: true, message_count: 0 });
    expect(await put(at, "/chats/alice/main", { mode: "auto" })).toMatchObject({
      session_id: chat.session_id,
      mode: "auto",
    });
    const session = await json<Session>(at.ask(`/sessions/${chat.session_id}`));
    expect(session.mode).toBe("auto");
    await say(at, chat, "Hello, who are you?");
    const log = await json<ChatMessagePage>(at.ask("/chats/alice/main/messages"));
    expect(log).toMatchObject({ total: 2, has_more: false });
    expect(log.messages).toMatchObject([
      { id: 1, role: "user", content: "Hello, who are you?", cost: null, session_id: chat.session_id },
      { id: 2, role: "assistant", cost: 0, duration_ms: expect.any(Number) },
    ]);
    const used = await json<Chat>(at.ask("/chats/alice/main"));
    expect(used).toMatchObject({ message_count: 2, total_cost: 0 });
    expect(used.last_used > chat.last_used).toBe(true);
    expect(at.faults).toEqual([]);
  });

  it("that is cleared goes on in its folder, also for a scope where all share one", async () => {
    const at = await startTestServer({ isolation: "shared", scoping: { enabled: true, keys: ["user"] } });
    const headers = { "X-Cognition-Scope-User": "alice" };
    const before = await put(at, "/chats/alice/main", {}, headers);
    const after = await json<Chat>(at.ask("/chats/alice/main/clear", { method: "POST", headers }));
    expect(after).toMatchObject({ working_directory: at.root });
    expect(after.session_id).not.toBe(before.session_id);
  });

  it("is put back into the mode that is asked for, whoever has changed its session's", async () => {
    const at = await startTestServer();
    const { session_id } = await put(at, "/chats/alice/main", { mode: "plan" });
    const session = `/sessions/${session_id}`;
    await json(at.ask(session, { method: "PATCH", json: { mode: "auto" } }));
    expect(await put(at, "/chats/alice/main", { mode: "plan" })).toMatchObject({ session_id, mode: "plan" });
    expect(await json<Session>(at.ask(session))).toMatchObject({ mode: "plan" });
  });

  it("is the same one for the same folder, however its path is written", async () => {
    const at = await startTestServer();
    const { session_id } = await put(at, "/chats/alice/main", { working_directory: `${at.root}/project/` });
    for (const working_directory of [`${at.root}/project/`, `${at.root}/project`, `${at.root}/./project`]) {
      expect(await put(at, "/chats/alice/main", { working_directory })).toMatchObject({ session_id });
    }
    const other = at.ask("/chats/alice/main", { method: "PUT", json: { working_directory: `${at.root}/other` } });
    expect(await json(other, 422)).toMatchObject({ code: "workspace_path_refused" });
  });

  it("works where its session does when the root was moved", async () => {
    const at = await startTestServer();
    const { session_id } = await put(at, "/chats/alice/main", { working_directory: `${at.root}/project` });
    const moved = await startTestServer({ storage: at.storage });
    const working_directory = `${moved.root}/project`;
    expect(await json<Chat>(moved.ask("/chats/alice/main"))).toMatchObject({ session_id, working_directory });
    expect(await put(moved, "/chats/alice/main", { working_directory })).toMatchObject({ session_id });
  });

  it("costs what its runs did, which are not read one by one", async () => {
    const at = await startTestServer();
    const { session_id } = await put(at, "/chats/alice/main");
    for (const estimated_cost of [0.5, 0.25]) await spend(at.storage, session_id, estimated_cost);
    const listRuns = vi.spyOn(at.storage, "listRuns");
    expect(await json<Chat>(at.ask("/chats/alice/main"))).toMatchObject({ total_cost: 0.75 });
    expect(listRuns).not.toHaveBeenCalled();
    expect(at.faults).toEqual([]);
  });

  it("keeps its log when its session's metadata is replaced, and does not double it when that is forked", async () => {
    const at = await startTestServer();
    const chat = await put(at, "/chats/alice/main");
    await say(at, chat, "hello");
    const log = await json<ChatMessagePage>(at.ask("/chats/alice/main/messages"));
    const session = `/sessions/${chat.session_id}`;
    const patched = at.ask(session, {
      method: "PATCH",
      json: { metadata: { ticket: "7", "chat.chat_id": "another" } },
    });
    expect((await json<Session>(patched)).metadata).toEqual({
      ticket: "7",
      "chat.user_id": "alice",
      "chat.chat_id": "main",
    });
    const fork = await json<Session>(at.ask(`${session}/fork`, { method: "POST", json: {} }), 201);
    await say(at, { ...chat, session_id: fork.id }, "in the fork");
    expect(await json<ChatMessagePage>(at.ask("/chats/alice/main/messages"))).toEqual(log);
    expect(at.faults).toEqual([]);
  });

  it("may have any name that an id may have", async () => {
    const at = await startTestServer();
    for (const name of [`${"x".repeat(99)}\u{1F600}`, "ü".repeat(255), " "]) {
      expect(await put(at, `/chats/alice/${encodeURIComponent(name)}`)).toMatchObject({ chat_id: name });
    }
    expect(at.faults).toEqual([]);
  });

  it("that is cleared begins afresh, and the former conversation stays readable", async () => {
    const at = await startTestServer();
    const chat = await put(at, "/chats/alice/main", { mode: "auto" });
    await say(at, chat, "first");
    const fresh = await json<Chat>(at.ask("/chats/alice/main/clear", { method: "POST", json: {} }));
    expect(fresh).toMatchObject({ mode: "auto", message_count: 0 });
    expect(fresh.session_id).not.toBe(chat.session_id);
    await say(at, fresh, "second");
    const old = await json<MessagePage>(at.ask(`/sessions/${chat.session_id}/messages?role=user`));
    expect(old.messages.map(({ content }) => content)).toEqual(["first"]);
    const page = await json<ChatMessagePage>(at.ask("/chats/alice/main/messages?limit=1&offset=2"));
    expect(page).toMatchObject({ messages: [{ id: 3, content: "second" }], total: 4, has_more: true });
  });

  it("is one, however many ask at once, and leaves no session behind that is nobody's", async () => {
    const at = await startTestServer();
    const all = await Promise.all(Array.from({ length: 20 }, () => put(at, "/chats/alice/main")));
    expect(new Set(all.map(({ session_id }) => session_id)).size).toBe(1);
    expect(await at.storage.countSessions()).toBe(1);
  });

  it("ends when it is deleted, and is another one afterwards", async () => {
    const at = await startTestServer();
    const chat = await put(at, "/chats/alice/main");
    expect((await at.ask("/chats/alice/main", { method: "DELETE" })).status).toBe(204);
    for (const [path, method] of [
      ["/chats/alice/main", "GET"],
      ["/chats/alice/main", "DELETE"],
      ["/chats/alice/main/clear", "POST"],
    ] as const) {
      const gone = await at.ask(path, method === "POST" ? { method, json: {} } : { method });
      expect([gone.status, ((await gone.json()) as { code: string }).code]).toEqual([404, "chat_not_found"]);
    }
    expect((await put(at, "/chats/alice/main")).session_id).not.toBe(chat.session_id);
  });

  it("ends with its session, and is another one afterwards, however many ask at once", async () => {
    const at = await startTestServer();
    const chat = await put(at, "/chats/alice/main", { mode: "auto" });
    expect((await at.ask(`/sessions/${chat.session_id}`, { method: "DELETE" })).status).toBe(204);
    const gone = await at.ask("/chats/alice/main");
    expect([gone.status, ((await gone.json()) as { code: string }).code]).toEqual([404, "chat_not_found"]);
    const first = await put(at, "/chats/alice/main", { mode: "auto" });
    expect((await at.ask(`/sessions/${first.session_id}`, { method: "DELETE" })).status).toBe(204);
    const all = await Promise.all(Array.from({ length: 20 }, () => put(at, "/chats/alice/main")));
    expect(new Set(all.map(({ session_id }) => session_id)).size).toBe(1);
    expect(all[0]?.session_id).not.toBe(first.session_id);
    expect(await at.storage.countSessions()).toBe(1);
  });

  it("of one user or scope is not another's", async () => {
    const at = await startTestServer({ scoping: { enabled: true, keys: ["user"] } });
    const as = (user: string) => ({ "X-Cognition-Scope-User": user });
    await put(at, "/chats/alice/main", {}, as("alice"));
    const other = await at.ask("/chats/alice/main", { headers: as("bob") });
    expect(other.status).toBe(403);
    expect((await at.ask("/chats/bob/main", { headers: as("bob") })).status).toBe(404);
    const log = await json<ChatMessagePage>(at.ask("/chats/bob/main/messages", { headers: as("bob") }));
    expect(log.total).toBe(0);
  });
});

describe("chats of a registered back end", () => {
  it("are kept there, and a name that nobody registered stops the start", async () => {
    const kept = createMemorySessionStore();
    onTestFinished(registerChatBackend("elsewhere", () => kept));
    const config = { ...defaultConfig(), chat: { backend: "elsewhere" } };
    const at = await startTestServer({ config });
    const { session_id } = await put(at, "/chats/alice/main");
    expect(await kept.load("alice", "main")).toMatchObject({ session_id });
    const wrong = startTestServer({ config: { ...config, chat: { backend: "nowhere" } } });
    await expect(wrong).rejects.toMatchObject({ code: "unknown_backend" });
  });
});
