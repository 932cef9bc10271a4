import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Session, type SessionPage } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { problemOf } from "./problem-of.ts";
import { readEvents } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";

const HELPER = `---
name: helper
description: Helps.
mode: subagent
---
You help.
`;

const NOBODY = "00000000-0000-7000-8000-000000000000";

describe("sessions", () => {
  it("are made with their defaults, read, changed and deleted, with the folder that was made for them", async () => {
    const { ask, root, faults } = await startTestServer();
    const response = await ask("/sessions", { method: "POST" });
    expect(response.status).toBe(201);
    const session = Session.parse(await response.json());
    expect(session).toMatchObject({
      title: null,
      status: "active",
      agent_name: "default",
      config: {},
      scopes: {},
      metadata: {},
      mode: "auto",
      message_count: 0,
      active_run_id: null,
      workspace_path: join(root, session.id),
    });
    writeFileSync(join(root, session.id, "kept.txt"), "until it is deleted");
    expect(await (await ask(`/sessions/${session.id}`)).json()).toEqual(session);
    const patched = await ask(`/sessions/${session.id}`, {
      method: "PATCH",
      json: { title: "T", metadata: { a: "b" }, mode: "plan", agent_name: "readonly" },
    });
    expect(await patched.json()).toMatchObject({
      title: "T",
      metadata: { a: "b" },
      mode: "plan",
      agent_name: "readonly",
      workspace_path: session.workspace_path,
    });
    const gone = await ask(`/sessions/${session.id}`, { method: "DELETE" });
    expect([gone.status, await gone.text()]).toEqual([204, ""]);
    expect(existsSync(join(root, session.id))).toBe(false);
    expect(await problemOf(ask(`/sessions/${session.id}`))).toMatchObject({ status: 404, code: "session_not_found" });
    expect(faults).toEqual([]);
  });

  it("refuse an agent that is not there or only for delegation, and name the valid ones", async () => {
    const { ask, createSession, storage } = await startTestServer({ agents: { "helper.md": HELPER } });
    const { id } = await createSession();
    for (const agent_name of ["nobody", "helper"]) {
      const refused = {
        status: 422,
        code: "unknown_agent",
        detail: expect.stringContaining("valid: default, readonly"),
      };
      expect(await problemOf(ask("/sessions", { method: "POST", json: { agent_name } }))).toMatchObject(refused);
      expect(await problemOf(ask(`/sessions/${id}`, { method: "PATCH", json: { agent_name } }))).toMatchObject(refused);
    }
    expect(await storage.countSessions()).toBe(1);
    expect(await storage.getSession(id)).toMatchObject({ agent_name: "default" });
  });

  it("merge their config; a model alone is the first enabled provider's, whatever was pinned before", async () => {
    const { ask, createSession } = await startTestServer();
    const { id } = await createSession({ config: { provider: "offline", model: "a", temperature: 1 } });
    const patch = async (config: object) => ask(`/sessions/${id}`, { method: "PATCH", json: { config } });
    expect(await (await patch({ model: "any-name", max_tokens: 5 })).json()).toMatchObject({
      config: { model: "any-name", temperature: 1, max_tokens: 5 },
    });
    expect(((await (await patch({ temperature: null })).json()) as Session).config).toEqual({
      model: "any-name",
      max_tokens: 5,
    });
    expect(await problemOf(patch({ provider_id: "none" }))).toMatchObject({ status: 422, code: "unknown_provider" });
    expect(await problemOf(patch({ temperature: 3 }))).toMatchObject({
      errors: [{ loc: ["body", "config", "temperature"] }],
    });
    const response = await ask("/sessions", { method: "POST", json: { config: { provider: "nobody" } } });
    expect(await problemOf(response)).toMatchObject({ status: 422, code: "unknown_provider" });
  });

  it("are listed newest first, by every predicate, with odd keys, and by page", async () => {
    const { ask, createSession } = await startTestServer();
    const odd = { "a.b c=": "x&y", é: "1" };
    const ids = [];
    for (const metadata of [{ n: "0" }, { n: "1", ...odd }, { n: "2", ...odd }]) {
      ids.push((await createSession({ metadata })).id);
    }
    const list = async (query: string) => (await (await ask(`/sessions?${query}`)).json()) as SessionPage;
    const all = await list("");
    expect(all.sessions.map(({ id }) => id)).toEqual(ids.toReversed());
    expect([all.total, all.has_more]).toEqual([3, false]);
    const page = await list("limit=1&offset=1");
    expect([page.sessions.map(({ id }) => id), page.total, page.has_more]).toEqual([[ids[1]], 3, true]);
    const query = `${new URLSearchParams({ "metadata.a.b c=": "x&y", "metadata.é": "1" })}`;
    expect((await list(query)).total).toBe(2);
    expect((await list(`${query}&metadata.n=2`)).sessions.map(({ id }) => id)).toEqual([ids[2]]);
    await ask(`/sessions/${ids[0]}`, { method: "PATCH", json: { status: "inactive" } });
    expect((await list("status=inactive")).sessions.map(({ id }) => id)).toEqual([ids[0]]);
  });

  it("page by a cursor that holds its place while others come and go", async () => {
    const { ask, createSession } = await startTestServer();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await createSession()).id);
    const newest = ids.toReversed();
    const list = async (query: string) => (await (await ask(`/sessions?${query}`)).json()) as SessionPage;
    const first = await list("limit=2");
    expect(first.sessions.map(({ id }) => id)).toEqual(newest.slice(0, 2));
    await createSession();
    await ask(`/sessions/${newest[1]}`, { method: "DELETE" });
    const second = await list(`limit=2&cursor=${first.next_cursor}`);
    expect(second.sessions.map(({ id }) => id)).toEqual(newest.slice(2, 4));
    const last = await list(`limit=2&cursor=${second.next_cursor}`);
    expect([last.sessions.map(({ id }) => id), last.has_more, last.next_cursor]).toEqual([
      [newest[4]],
      false,
      undefined,
    ]);
    expect(await problemOf(ask("/sessions?cursor=!"))).toMatchObject({ errors: [{ loc: ["query", "cursor"] }] });
    expect(await problemOf(ask(`/sessions?offset=1&cursor=${first.next_cursor}`))).toMatchObject({ status: 422 });
  });

  it("work in a given folder inside of the root, which stays when they go", async () => {
    const { ask, createSession, root } = await startTestServer();
    mkdirSync(join(root, "mine"));
    writeFileSync(join(root, "mine/a.txt"), "a");
    const { id, workspace_path } = await createSession({ workspace_path: join(root, "mine") });
    expect(workspace_path).toBe(join(root, "mine"));
    await ask(`/sessions/${id}`, { method: "DELETE" });
    expect(readdirSync(join(root, "mine"))).toEqual(["a.txt"]);
    symlinkSync("/tmp", join(root, "out"));
    symlinkSync(join(root, ".cognition"), join(root, "in"));
    const bad = ["relative", "/tmp/elsewhere", `${root}/../x`, `${root}/.cognition/x`, `${root}/out/x`, `${root}/in/x`];
    for (const path of [...bad, `${root}/mine/a.txt/below`]) {
      const response = ask("/sessions", { method: "POST", json: { workspace_path: path } });
      expect(await problemOf(response), path).toMatchObject({ status: 422, code: "workspace_path_refused" });
    }
  });

  it("are refused where the system makes no folders", async () => {
    const { ask, root } = await startTestServer();
    rmSync(root, { recursive: true });
    symlinkSync("/proc", root);
    for (const json of [{}, { workspace_path: join(root, "mine") }]) {
      const response = ask("/sessions", { method: "POST", json });
      const refused = { status: 422, code: "workspace_path_refused", detail: expect.stringContaining("can't be made") };
      expect(await problemOf(response)).toMatchObject(refused);
    }
  });

  it("work in the root itself where the workspace is shared, and leave it as it is", async () => {
    const { ask, createSession, root } = await startTestServer({ isolation: "shared" });
    const { id, workspace_path } = await createSession();
    expect(workspace_path).toBe(root);
    writeFileSync(join(root, "a.txt"), "a");
    await ask(`/sessions/${id}`, { method: "DELETE" });
    expect(existsSync(join(root, "a.txt"))).toBe(true);
  });

  it("take no message while inactive, and say so", async () => {
    const { ask, createSession } = await startTestServer();
    const { id } = await createSession();
    const patch = (status: string) => ask(`/sessions/${id}`, { method: "PATCH", json: { status } });
    expect(await (await patch("inactive")).json()).toMatchObject({ status: "inactive" });
    const send = () => ask(`/sessions/${id}/messages`, { method: "POST", json: { content: "Hello" } });
    expect(await problemOf(send())).toMatchObject({ status: 409, code: "session_inactive" });
    await patch("active");
    expect((await readEvents(await send())).at(-1)).toMatchObject({ event: "done" });
    expect(await problemOf(patch("error"))).toMatchObject({ status: 422 });
  });

  it("abort what runs and what waits in line, and say so also when idle", async () => {
    const { ask, createSession, storage } = await startTestServer();
    const { id } = await createSession();
    const abort = async (json?: object) => ask(`/sessions/${id}/abort`, { method: "POST", json });
    expect(await (await abort()).json()).toEqual({ success: true, message: "Operation aborted", aborted: [] });
    const send = (content: string) =>
      ask(`/sessions/${id}/messages`, { method: "POST", json: { content }, headers: { Prefer: "respond-async" } });
    const runs = [await send("Run the command: sleep 30"), await send("Hello")];
    expect(runs.map(({ status }) => status)).toEqual([202, 202]);
    const ids = await Promise.all(runs.map(async (run) => ((await run.json()) as { id: string }).id));
    const { aborted } = (await (await abort()).json()) as { aborted: string[] };
    expect(aborted.toSorted()).toEqual(ids.toSorted());
    await readEvents(await ask(`/sessions/${id}/runs/${ids[0]}/events?after=0`));
    expect((await storage.listRuns(id)).map(({ status }) => status)).toEqual(["aborted", "aborted"]);
    expect(await problemOf(abort({ run_id: NOBODY }))).toMatchObject({ status: 404, code: "run_not_found" });
  });
});

describe("a scope", () => {
  const ann = { "X-Cognition-Scope-User": "ann" };
  const bob = { "X-Cognition-Scope-User": "bob" };

  it("sees only its own, and no folder may be chosen", async () => {
    const scoping = { enabled: true, keys: ["user"] };
    const { ask, createSession, root } = await startTestServer({ scoping });
    const { id, scopes } = await createSession({}, ann);
    expect(scopes).toEqual({ user: "ann" });
    expect(await problemOf(ask(`/sessions/${id}`))).toMatchObject({ status: 403, code: "scope_required" });
    expect((await ask(`/sessions/${id}`, { headers: ann })).status).toBe(200);
    const paths = [
      "",
      "/messages",
      "/messages/x",
      "/runs",
      "/runs/x",
      "/runs/x/events",
      "/events",
      "/files",
      "/files/x",
    ];
    for (const path of paths) {
      const response = ask(`/sessions/${id}${path}`, { headers: bob });
      expect(await problemOf(response), path).toMatchObject({ status: 404, code: "session_not_found" });
    }
    for (const path of ["/abort", "/resume", "/messages/rebuild", "/messages"]) {
      const response = ask(`/sessions/${id}${path}`, {
        method: "POST",
        headers: bob,
        json: path === "/messages" ? { content: "x" } : {},
      });
      expect(await problemOf(response), path).toMatchObject({ status: 404, code: "session_not_found" });
    }
    expect(await (await ask("/sessions", { headers: bob })).json()).toMatchObject({ sessions: [], total: 0 });
    expect(await (await ask("/sessions", { headers: ann })).json()).toMatchObject({ total: 1 });
    const chosen = ask("/sessions", { method: "POST", headers: ann, json: { workspace_path: `${root}/x` } });
    expect(await problemOf(chosen)).toMatchObject({ code: "workspace_path_refused" });
    expect((await ask("/ready")).status).toBe(200);
  });

  it("still tags and filters where scoping is off", async () => {
    const { ask, createSession } = await startTestServer();
    await createSession({}, ann);
    await createSession();
    const total = async (headers = {}) => ((await (await ask("/sessions", { headers })).json()) as SessionPage).total;
    expect([await total(), await total(ann), await total(bob)]).toEqual([2, 1, 0]);
  });

  it("lets nobody who has one choose another's folder, or the root with all of them, where scoping is off", async () => {
    const { ask, createSession, root } = await startTestServer();
    const { workspace_path } = await createSession({}, ann);
    for (const path of [root, workspace_path, join(root, "mine")]) {
      const asked = ask("/sessions", { method: "POST", headers: bob, json: { workspace_path: path } });
      expect(await problemOf(asked), path ?? "").toMatchObject({ status: 422, code: "workspace_path_refused" });
    }
    expect((await createSession({ workspace_path: join(root, "mine") })).workspace_path).toBe(join(root, "mine"));
  });
});
