import { describe, expect, it } from "vitest";
import {
  Chat,
  Completion,
  CreateAgent,
  CreateProvider,
  GetUsage,
  Health,
  isRunOutcome,
  Profile,
  Provider,
  PutBudgets,
  PutChat,
  ReplaceProfile,
  Run,
  RunStatus,
  StartTask,
  Task,
  UpdateAgent,
  UpdateProfile,
} from "../src/index.ts";
import { message, NOW } from "./examples.ts";
import { refusal } from "./refusal.ts";

const profile = {
  user_id: "alice",
  preferences: { tone: "short" },
  goals: ["ship"],
  expertise_areas: [],
  communication_style: "",
  projects: { cognition: "a runtime" },
  created_at: NOW,
  last_updated: NOW,
};

describe("Run", () => {
  const run = {
    id: "r",
    session_id: "s",
    status: "queued",
    attempt: 0,
    resumes: null,
    agent_name: "default",
    agent_revision: null,
    model: null,
    usage: null,
    error: { code: "too_many_attempts", message: "given up after 3 attempts" },
    trace_id: null,
    checkpoint_id: null,
    created_at: NOW,
    started_at: null,
    finished_at: null,
  };

  it("parses to itself and takes no other status or error", () => {
    expect(Run.parse(run)).toEqual(run);
    expect(Run.safeParse({ ...run, status: "done" }).success).toBe(false);
    expect(Run.safeParse({ ...run, error: { code: "nope", message: "" } }).success).toBe(false);
  });

  it("ends in one of three ways", () => {
    expect(RunStatus.options.filter(isRunOutcome)).toEqual(["succeeded", "failed", "aborted"]);
  });
});

describe("Completion", () => {
  const documented = {
    session_id: "sess_abc123",
    message_id: "msg_xyz",
    status: "done",
    output: "The review has been posted to the PR.",
    token_usage: { input: 1840, output: 412 },
    model_used: "claude-3-5-sonnet",
    completed_at: "2026-03-21T12:34:56Z",
  };

  it("takes the documented payload, and says why a run failed", () => {
    expect(Completion.parse(documented)).toEqual(documented);
    const failed = { ...documented, status: "error", error: { code: "model_failed", message: "x" }, completed_at: NOW };
    expect(Completion.parse(failed)).toEqual(failed);
    expect(Completion.safeParse({ ...documented, status: "succeeded" }).success).toBe(false);
  });
});

describe("Health", () => {
  it("takes the documented circuit breakers", () => {
    const health = {
      status: "ok",
      version: "0.1.0",
      uptime_s: 1.5,
      storage: { backend: "sqlite", ok: true, latency_ms: 0.3 },
      sandbox: { backend: "local", ok: true },
      active_runs: 0,
      sessions: 3,
      warnings: [],
      circuit_breakers: {
        openai: { state: "closed", total_calls: 142, failed_calls: 1, consecutive_failures: 0 },
      },
    };
    expect(Health.parse(health)).toEqual(health);
    expect(Health.safeParse({ ...health, sandbox: { backend: "chroot", ok: true } }).success).toBe(false);
    // A storage of one's own goes by a name of its own.
    expect(Health.safeParse({ ...health, storage: { ...health.storage, backend: "mysql" } }).success).toBe(true);
  });
});

describe("agents and providers", () => {
  it("fill defaults", () => {
    expect(CreateAgent.parse({ name: "security-auditor" })).toEqual({
      name: "security-auditor",
      description: "",
      mode: "all",
      system_prompt: "",
      tools: null,
      skills: [],
      subagents: [],
      memory: [],
      middleware: [],
      interrupt_on: {},
      model: null,
      config: {},
      response_format: null,
    });
    expect(UpdateAgent.parse({ description: "x" })).toEqual({ description: "x" });
    expect(CreateProvider.parse({ id: "main", provider: "openai" })).toMatchObject({ enabled: true, priority: 100 });
  });

  it("take rules for interrupts", () => {
    const interrupt_on = { bash: true, write_file: { allowed_decisions: ["approve", "reject"] }, ls: false };
    expect(CreateAgent.parse({ name: "a", interrupt_on }).interrupt_on).toEqual(interrupt_on);
  });

  it.each(["", "a b", "../x", "-a", "ä", "x".repeat(65)])("refuse the name %j", (name) => {
    expect(refusal(CreateAgent, { name }).message).toContain("name");
  });

  it("have no field for a key", () => {
    expect(refusal(CreateProvider, { id: "a", provider: "openai", api_key: "sk-1" }).message).toContain("api_key");
    expect(refusal(CreateProvider, { id: "a", provider: "openai", api_key_env: "sk-1" }).message).toContain(
      "api_key_env",
    );
    expect(Object.keys(Provider.shape)).not.toContain("api_key");
  });

  it("have an id that an address can name, or they could not be removed", () => {
    const called = (id: string) => ({ id, provider: "openai" });
    for (const id of [".", ".."]) expect(refusal(CreateProvider, called(id)).message).toContain("id must not be");
    for (const id of ["...", ".a", "a/..", "gpt-5.4"]) expect(CreateProvider.parse(called(id)).id).toBe(id);
  });

  it("have no user and no password in their address, which everybody is shown", () => {
    const at = (base_url: string) => ({ id: "a", provider: "openai", base_url });
    for (const url of ["https://me:pw@api.example/v1", "https://token@api.example", "HTTP://:pw@api.example\\x"]) {
      expect(refusal(CreateProvider, at(url)).message).toContain("api_key_env");
    }
    expect(CreateProvider.parse(at("https://api.example/@me")).base_url).toBe("https://api.example/@me");
  });
});

describe("profiles and tasks", () => {
  it("fill defaults", () => {
    expect(ReplaceProfile.parse({})).toEqual({
      preferences: {},
      goals: [],
      expertise_areas: [],
      communication_style: "",
      projects: {},
    });
    expect(UpdateProfile.parse({ goals: ["x"] })).toEqual({ goals: ["x"] });
    expect(StartTask.parse({ query: "analyze codebase" })).toEqual({ query: "analyze codebase", user_id: "default" });
  });

  it("refuse an empty query and unknown fields", () => {
    expect(refusal(StartTask, { query: "" }).message).toContain("query must not be empty");
    expect(refusal(StartTask, { query: "x", user: "alice" }).message).toContain("user");
    expect(refusal(UpdateProfile, { user_id: "bob" }).message).toContain("user_id");
  });

  it("hold four components", () => {
    const task = {
      task_id: "t",
      query: "What is AI?",
      user_id: "alice",
      conversation_id: "c",
      profile,
      conversation: {
        conversation_id: "c",
        user_id: "alice",
        messages: [{ role: "user", content: "What is AI?" }, message],
        last_updated: NOW,
      },
      workspace: {
        objective: "",
        assessment: "",
        approach: "",
        observations: [],
        insights: [],
        facts: { a: 1 },
        thoughts: [{ b: 2 }],
      },
      execution: {
        iteration: 0,
        max_iterations: 10,
        mode: "adapt",
        stop_reason: null,
        messages: [],
        response: null,
        pending_calls: [],
        completed_calls: [],
        iterations_without_tools: 0,
      },
    };
    expect(Profile.parse(profile)).toEqual(profile);
    expect(Task.parse(task)).toEqual(task);
    expect(Task.parse({ ...task, execution: null }).execution).toBeNull();
  });
});

describe("chats", () => {
  it("parse to themselves, and a PUT fills nothing in", () => {
    const chat = {
      session_id: "s",
      user_id: "u",
      chat_id: "c",
      working_directory: "/w",
      claude_session_id: null,
      mode: "plan",
      total_cost: 0.25,
      message_count: 2,
      is_active: true,
      created_at: NOW,
      last_used: NOW,
    };
    expect(Chat.parse(chat)).toEqual(chat);
    expect(PutChat.parse({})).toEqual({});
    expect(refusal(PutChat, { mode: "acceptEdits" }).message).toContain("mode");
  });
});

describe("usage and budgets", () => {
  it("fill defaults", () => {
    const none = { max_tokens: null, max_steps: null, max_tool_calls: null, max_seconds: null };
    expect(GetUsage.parse({})).toEqual({ group_by: "day" });
    expect(PutBudgets.parse({ budgets: [{ max_cost: 5 }] }).budgets).toEqual([
      { agent_name: null, session_id: null, period: "month", max_cost: 5, ...none },
    ]);
  });

  it("refuse a budget without a limit and a day that is none", () => {
    expect(refusal(PutBudgets, { budgets: [{}] }).message).toContain("a budget needs one of max_cost, max_tokens");
    const twice = [{ max_cost: 1 }, { max_tokens: 1 }];
    expect(refusal(PutBudgets, { budgets: twice }).message).toContain("same agent, session and period");
    expect(refusal(GetUsage, { from: "2026-02-30" }).message).toContain("YYYY-MM-DD");
    expect(refusal(GetUsage, { from: "2026-02-02", to: "2026-02-01" }).message).toContain("must not be after");
    expect(GetUsage.parse({ from: "2026-02-01", to: "2026-02-01" })).toMatchObject({ to: "2026-02-01" });
  });
});
