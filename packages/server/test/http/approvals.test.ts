import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ApprovalPage, Interrupt, Run } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { problemOf } from "./problem-of.ts";
import { namesOf, readEvents } from "./read-events.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

const CAREFUL = `---
name: careful
description: Asks before it runs anything.
interrupt_on:
  execute: { allowed_decisions: [approve, edit, reject], description: Look at the command first. }
---
You are careful.
`;

async function waiting(headers: Record<string, string> = {}) {
  const server = await startTestServer({ agents: { "careful.md": CAREFUL } });
  return { ...server, ...(await ask(server, headers)), headers };
}

async function ask(server: TestServer, headers: Record<string, string> = {}) {
  const { id, workspace_path } = await server.createSession({ agent_name: "careful" }, headers);
  const send = { method: "POST", json: { content: "Run the command: touch made.txt" }, headers };
  const events = await readEvents(await server.ask(`/sessions/${id}/messages`, send));
  const { interrupts } = (events.at(-1)?.data ?? {}) as { interrupts: Interrupt[] };
  const resume = (json?: unknown, headers: Record<string, string> = {}) =>
    server.ask(`/sessions/${id}/resume`, { method: "POST", json, headers });
  return { id, folder: workspace_path ?? "", events, interrupt: interrupts[0] as Interrupt, resume };
}

describe("approvals", () => {
  it("close the POST stream, are listed, and go on when answered", async () => {
    const { ask, id, events, interrupt, resume, folder } = await waiting();
    expect(events.at(-1)?.event).toBe("interrupt");
    expect(interrupt).toEqual({
      id: expect.any(String),
      tool_call_id: expect.any(String),
      tool_name: "execute",
      args: { command: "touch made.txt" },
      allowed_decisions: ["approve", "edit", "reject"],
      description: "Look at the command first.",
    });
    const list = async (query = "") => (await (await ask(`/approvals${query}`)).json()) as ApprovalPage;
    expect(await list()).toMatchObject({
      approvals: [{ ...interrupt, session_id: id, agent_name: "careful", status: "waiting", decision: null }],
      total: 1,
      has_more: false,
    });
    expect((await list("?session_id=other")).total).toBe(0);
    const send = ask(`/sessions/${id}/messages`, { method: "POST", json: { content: "Hello" } });
    expect(await problemOf(send)).toMatchObject({ status: 409, code: "waiting_for_approval" });
    const patch = ask(`/sessions/${id}`, { method: "PATCH", json: { status: "active" } });
    expect(await problemOf(patch)).toMatchObject({ status: 409, code: "waiting_for_approval" });
    const response = await resume({ decisions: [{ id: interrupt.id, type: "approve" }] });
    expect([response.status, ((await response.json()) as Run).status]).toEqual([200, "succeeded"]);
    expect(existsSync(join(folder, "made.txt"))).toBe(true);
    expect((await list()).total).toBe(0);
  });

  it("that are answered page by page leave none out", async () => {
    const server = await startTestServer({ agents: { "careful.md": CAREFUL } });
    const asked = [];
    for (let n = 0; n < 4; n++) asked.push(await ask(server));
    const list = async (query: string) =>
      (await (await server.ask(`/approvals?limit=1${query}`)).json()) as ApprovalPage;
    const seen: string[] = [];
    for (let page = await list(""); ; page = await list(`&cursor=${page.next_cursor}`)) {
      const [approval] = page.approvals;
      seen.push(approval?.session_id ?? "");
      const answered = asked.find(({ id }) => id === approval?.session_id);
      await answered?.resume({ decisions: [{ id: approval?.id, type: "reject" }] });
      expect(page.has_more).toBe(page.next_cursor !== undefined);
      if (!page.has_more) break;
    }
    expect(seen).toEqual(asked.map(({ id }) => id));
    for (const cursor of ["x", "WzEsMl0", `${asked[0]?.id}`]) {
      const problem = await problemOf(server.ask(`/approvals?cursor=${cursor}`));
      expect(problem).toMatchObject({ status: 422, errors: [{ loc: ["query", "cursor"] }] });
    }
  });

  it("take the single form, and stream where asked to", async () => {
    const { interrupt, resume, folder } = await waiting();
    const { tool_call_id } = interrupt;
    const body = { decision: "edit", tool_call_id, tool_name: "execute", args: { command: "touch other.txt" } };
    const response = await resume(body, { Accept: "text/event-stream" });
    const names = namesOf(await readEvents(response));
    expect([names.includes("interrupt"), names.at(-1)]).toEqual([false, "done"]);
    expect([existsSync(join(folder, "made.txt")), existsSync(join(folder, "other.txt"))]).toEqual([false, true]);
  });

  it("refuse what is unknown, doubled, not allowed or of another tool, and keep waiting", async () => {
    const { ask, interrupt, resume } = await waiting();
    const { id, tool_call_id } = interrupt;
    const at = (...loc: unknown[]) => ({ status: 422, code: "validation_failed", errors: [{ loc: ["body", ...loc] }] });
    const one = { id, type: "approve" };
    expect(await problemOf(resume({ decisions: [one, { id: "x", type: "approve" }] }))).toMatchObject(
      at("decisions", 1, "id"),
    );
    expect(await problemOf(resume({ decisions: [one, { tool_call_id, type: "approve" }] }))).toMatchObject(
      at("decisions", 1, "tool_call_id"),
    );
    expect(await problemOf(resume({ decisions: [{ type: "approve" }] }))).toMatchObject({ status: 422 });
    expect(await problemOf(resume({ decision: "approve", tool_call_id, tool_name: "other" }))).toMatchObject(
      at("tool_name"),
    );
    expect(await problemOf(resume({ decisions: [{ id, type: "respond", message: "no" }] }))).toMatchObject({
      status: 422,
      code: "decision_not_allowed",
    });
    expect(await problemOf(resume())).toMatchObject({ status: 409, code: "waiting_for_approval" });
    expect(await (await ask("/approvals")).json()).toMatchObject({ total: 1 });
  });

  it("are answered once also where the node that took the answer died before the run went on", async () => {
    const { id, interrupt, resume, storage } = await waiting();
    const [run] = await storage.listRuns(id, { limit: 1 });
    const decision = { id: interrupt.id, type: "reject" as const };
    await storage.resumeRun(run?.id ?? "", { kind: "answers", answers: { [interrupt.id]: decision } });
    const late = await problemOf(resume({ decisions: [decision] }));
    expect(late).toMatchObject({ status: 409, code: "already_answered" });
  });

  it("are answered once: the second of two is 409, and so is a late one", async () => {
    const { interrupt, resume } = await waiting();
    const body = { decisions: [{ id: interrupt.id, type: "reject" }] };
    const both = await Promise.all([resume(body), resume(body)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const loser = both.find(({ status }) => status === 409) as Response;
    expect(await problemOf(loser)).toMatchObject({ code: "already_answered" });
    expect(await problemOf(resume(body))).toMatchObject({ status: 409, code: "already_answered" });
    const other = { decisions: [{ id: "never asked", type: "approve" }] };
    expect(await problemOf(resume(other))).toMatchObject({ status: 409, code: "nothing_waiting" });
  });

  it("are answered once also where the session's next run asks by now", async () => {
    const { id, interrupt, resume, ask } = await waiting();
    const first = { decisions: [{ id: interrupt.id, type: "reject" }] };
    expect((await resume(first)).status).toBe(200);
    const json = { content: "Run the command: touch other.txt" };
    const asked = await readEvents(await ask(`/sessions/${id}/messages`, { method: "POST", json }));
    expect(asked.at(-1)?.event).toBe("interrupt");
    expect(await problemOf(resume(first))).toMatchObject({ status: 409, code: "already_answered" });
    const other = { decisions: [{ id: "never asked", type: "approve" }] };
    expect(await problemOf(resume(other))).toMatchObject({ status: 422, code: "validation_failed" });
  });

  it("give the first answer again for the same idempotency key", async () => {
    const { interrupt, resume } = await waiting();
    const headers = { "Idempotency-Key": crypto.randomUUID(), Accept: "text/event-stream" };
    const body = { decisions: [{ id: interrupt.id, type: "approve" }] };
    const first = await readEvents(await resume(body, headers));
    expect(await readEvents(await resume(body, headers))).toEqual(first);
    const other = { decisions: [{ id: interrupt.id, type: "reject" }] };
    expect(await problemOf(resume(other, headers))).toMatchObject({ status: 422, code: "idempotency_mismatch" });
  });

  it("whose run was aborted wait for nothing any more, and were not answered", async () => {
    const { ask, id, interrupt, resume } = await waiting();
    await ask(`/sessions/${id}/abort`, { method: "POST" });
    const body = { decisions: [{ id: interrupt.id, type: "approve" }] };
    expect(await problemOf(resume(body))).toMatchObject({ status: 409, code: "nothing_waiting" });
  });

  it("of another scope are not there", async () => {
    const { ask } = await waiting({ "X-Cognition-Scope-User": "ann" });
    expect(await (await ask("/approvals")).json()).toMatchObject({ total: 1 });
    const headers = { "X-Cognition-Scope-User": "bob" };
    expect(await (await ask("/approvals", { headers })).json()).toMatchObject({ approvals: [], total: 0 });
  });
});

describe("resuming with an empty body", () => {
  it("has nothing to do on a fresh session, and after success", async () => {
    const { ask, createSession } = await startTestServer();
    const { id } = await createSession();
    const resume = () => ask(`/sessions/${id}/resume`, { method: "POST" });
    expect(await problemOf(resume())).toMatchObject({ status: 409, code: "nothing_to_resume" });
    await readEvents(await ask(`/sessions/${id}/messages`, { method: "POST", json: { content: "Hello" } }));
    expect(await problemOf(resume())).toMatchObject({ status: 409, code: "nothing_to_resume" });
  });

  it("continues what was aborted, as a new run that names it", async () => {
    const { ask, createSession } = await startTestServer();
    const { id } = await createSession();
    const send = {
      method: "POST",
      json: { content: "Run the command: sleep 30" },
      headers: { Prefer: "respond-async" },
    };
    const { id: first } = (await (await ask(`/sessions/${id}/messages`, send)).json()) as Run;
    const follow = () => ask(`/sessions/${id}/runs/${first}/events?after=0`);
    // Aborted before its command, it would be the command that is continued.
    await readEvents(await follow(), (events) => events.at(-1)?.event === "tool_call");
    const busy = await ask(`/sessions/${id}/resume`, { method: "POST" });
    expect(await problemOf(busy)).toMatchObject({ status: 409, code: "session_busy" });
    await ask(`/sessions/${id}/abort`, { method: "POST" });
    const stopped = await readEvents(await follow());
    expect(stopped.at(-1)).toMatchObject({ event: "done", data: { status: "aborted" } });
    const again = await ask(`/sessions/${id}/resume`, { method: "POST" });
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({ resumes: first, status: "succeeded" });
  });

  it("does what a message asked for that was aborted while it waited its turn", async () => {
    const { ask, createSession, storage } = await startTestServer();
    const { id, workspace_path } = await createSession();
    const send = async (content: string) => {
      const headers = { Prefer: "respond-async" };
      const response = await ask(`/sessions/${id}/messages`, { method: "POST", json: { content }, headers });
      return ((await response.json()) as Run).id;
    };
    const first = await send("Run the command: sleep 30");
    const follow = () => ask(`/sessions/${id}/runs/${first}/events?after=0`);
    await readEvents(await follow(), (events) => events.at(-1)?.event === "tool_call");
    const second = await send("Create a file named b.txt containing exactly the word b");
    await ask(`/sessions/${id}/abort`, { method: "POST" });
    await readEvents(await follow());
    const resumed = await ask(`/sessions/${id}/resume`, { method: "POST" });
    expect(await resumed.json()).toMatchObject({ resumes: second, status: "succeeded" });
    expect(existsSync(join(workspace_path ?? "", "b.txt"))).toBe(true);
    const said = (await storage.listMessagesForSession(id)).map(({ role }) => role);
    expect(said.slice(-4)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(await storage.rebuildMessages(id)).toMatchObject({ repaired: 0, added: 0, removed: 0 });
  });
});
