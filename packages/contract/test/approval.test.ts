import { describe, expect, it } from "vitest";
import { Approval, decisionsOf, ResumeSession } from "../src/index.ts";
import { NOW } from "./examples.ts";
import { refusal } from "./refusal.ts";

describe("ResumeSession", () => {
  it("takes a list of decisions", () => {
    const decisions = [
      { id: "i1", type: "approve" },
      { tool_call_id: "c2", type: "edit", args: { command: "ls" } },
      { tool_call_id: "c3", type: "reject", message: "too dangerous" },
      { id: "i4", type: "respond", value: 42 },
    ];
    expect(decisionsOf(ResumeSession.parse({ decisions }))).toEqual(decisions);
  });

  it("takes the single form as one decision", () => {
    const body = ResumeSession.parse({
      decision: "edit",
      tool_call_id: "c1",
      tool_name: "bash",
      args: { command: "ls" },
    });
    expect(decisionsOf(body)).toEqual([{ tool_call_id: "c1", type: "edit", args: { command: "ls" } }]);
  });

  it("takes an empty body as no decision", () => {
    expect(decisionsOf(ResumeSession.parse({}))).toEqual([]);
    expect(decisionsOf(ResumeSession.parse({ idempotency_key: "k" }))).toEqual([]);
  });

  it.each([
    ["no decisions", { decisions: [] }, "decisions must not be empty"],
    ["a decision about nothing", { decisions: [{ type: "approve" }] }, "either id or tool_call_id"],
    ["two names", { decisions: [{ id: "a", tool_call_id: "b", type: "approve" }] }, "either id or tool_call_id"],
    ["edit without args", { decisions: [{ id: "a", type: "edit" }] }, "edit needs args"],
    ["respond without an answer", { decisions: [{ id: "a", type: "respond" }] }, "respond needs"],
    ["another type", { decisions: [{ id: "a", type: "maybe" }] }, "decisions.0.type"],
    ["an unknown field", { decisions: [{ id: "a", type: "approve", why: "x" }] }, "why"],
    ["both forms", { decisions: [{ id: "a", type: "approve" }], decision: "approve" }, "not both"],
    ["a single form without its call", { decision: "approve", tool_name: "bash" }, "needs tool_call_id"],
    ["a single form without its tool", { decision: "approve", tool_call_id: "c" }, "needs tool_name"],
    ["a single edit without args", { decision: "edit", tool_call_id: "c", tool_name: "t" }, "edit needs args"],
    ["a call without a decision", { tool_call_id: "c", args: {} }, "only beside decision"],
    ["too many", { decisions: Array(101).fill({ id: "a", type: "approve" }) }, "limit of 100"],
  ])("refuses %s", (_, body, message) => {
    expect(refusal(ResumeSession, body).message).toContain(message);
  });
});

describe("Approval", () => {
  it("is an interrupt with its place and its answer", () => {
    const approval = {
      id: "i1",
      tool_call_id: "c1",
      tool_name: "bash",
      args: { command: "rm -r x" },
      allowed_decisions: ["approve", "edit", "reject"],
      session_id: "s",
      run_id: "r",
      agent_name: "default",
      status: "waiting",
      decision: null,
      created_at: NOW,
      answered_at: null,
    };
    expect(Approval.parse(approval)).toEqual(approval);
    expect(Approval.safeParse({ ...approval, status: "open" }).success).toBe(false);
  });
});
