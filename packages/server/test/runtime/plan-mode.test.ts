import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredEvent } from "@cognition/contract";
import { createTasks, openStorage, type Storage } from "@cognition/thread";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defaultConfig } from "../../src/config.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { parseMcpServers } from "../../src/tool/mcp-config.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { answer, dataOf, interruptsIn, say, startRuntime } from "./started-runtime.ts";

const WRITER = "---\ndescription: Writes\nmode: subagent\n---\nYou write.\n";
const files = { ".cognition/agents/writer.md": WRITER };
const CREATE = "Create a file named notes.txt containing exactly the word hello";

describe("a session in plan mode", () => {
  it("shows the plan; approved, it switches over and does the work in the same run", async () => {
    const started = await startRuntime({ files, session: { mode: "plan" } });
    const asked = await say(started, CREATE);
    expect(interruptsIn(asked)).toMatchObject([
      {
        tool_name: "present_plan",
        args: { plan: `1. ${CREATE}` },
        allowed_decisions: ["approve", "edit", "reject", "respond"],
      },
    ]);
    const path = join(started.folder, "notes.txt");
    expect(existsSync(path)).toBe(false);
    expect(await started.storage.getSession(started.session.id)).toMatchObject({ mode: "plan" });
    const events = await answer(started, asked, { type: "approve" });
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(readFileSync(path, "utf8")).toBe("hello");
    expect(await started.storage.getSession(started.session.id)).toMatchObject({ mode: "auto" });
  });

  it("rejected, it keeps planning", async () => {
    const started = await startRuntime({ files, session: { mode: "plan" } });
    const asked = await say(started, CREATE);
    const events = await answer(started, asked, { type: "reject", message: "Use a better name." });
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "denied", output: "Use a better name." }]);
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(existsSync(join(started.folder, "notes.txt"))).toBe(false);
    expect(await started.storage.getSession(started.session.id)).toMatchObject({ mode: "plan" });
    expect(interruptsIn(await say(started, CREATE))).toHaveLength(1);
  });

  it("reads as ever", async () => {
    const started = await startRuntime({ session: { mode: "plan" } });
    await say(started, "Hello");
    writeFileSync(join(started.folder, "b.txt"), "TODO: plan");
    const events = await say(started, "Read the file b.txt");
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: expect.stringContaining("TODO") }]);
  });

  it("is one change away from working", async () => {
    const started = await startRuntime({ session: { mode: "plan" } });
    await started.storage.updateSession(started.session.id, { mode: "auto" });
    const events = await say(started, CREATE);
    expect(dataOf(events, "tool_call")).toMatchObject([{ name: "write_file" }]);
  });

  it("calls an MCP server's tool that the operator says to be harmless, and none that only its server says so of", async () => {
    const child = { command: process.execPath, args: [join(import.meta.dirname, "../children/mcp-stdio-server.ts")] };
    const mcp = parseMcpServers([
      { name: "claims", connect_timeout_ms: 50_000, ...child },
      { name: "declared", connect_timeout_ms: 50_000, ...child, effect: "read" },
    ]);
    const { server, options } = await scriptedProvider(
      calls("c1", "claims_echo", { text: "one" }),
      calls("c2", "declared_echo", { text: "two" }),
      says("Read."),
    );
    await using _ = server;
    const { tools } = defaultConfig();
    const config = { ...defaultConfig(), ...options.config, tools: { ...tools, mcp } };
    const events = await say(await startRuntime({ session: { mode: "plan" }, ...options, config }), "Go");
    expect(dataOf(events, "tool_result")).toMatchObject([
      { tool_call_id: "c1", outcome: "denied" },
      { tool_call_id: "c2", outcome: "ok", output: "two" },
    ]);
  });

  it("denies what a model tries all the same, itself and through a subagent", async () => {
    const task = { description: "write", subagent_type: "writer" };
    const { server, options } = await scriptedProvider(
      calls("c1", "write_file", { file_path: "/a.txt", content: "x" }),
      calls("c2", "execute", { command: "touch b.txt" }),
      calls("c3", "task", task),
      calls("c4", "write_file", { file_path: "/c.txt", content: "x" }),
      says("I could not."),
    );
    await using _ = server;
    const started = await startRuntime({ files, session: { mode: "plan" }, ...options });
    const events = await say(started, "Go");
    const results = dataOf(events, "tool_result").map(({ tool_call_id, outcome, agent }) => [
      tool_call_id,
      outcome,
      agent,
    ]);
    expect(results).toEqual([
      ["c1", "denied", undefined],
      ["c2", "denied", undefined],
      ["c4", "denied", "writer"],
      ["c3", "ok", undefined],
    ]);
    for (const file of ["a.txt", "b.txt", "c.txt"]) expect(existsSync(join(started.folder, file))).toBe(false);
    const [first] = server.requests;
    const offered = JSON.stringify(first?.body["tools"]);
    expect(offered).toContain('"name":"present_plan"');
    expect(offered).not.toContain('"name":"write_file"');
    expect(JSON.stringify(first?.body["messages"])).toContain("## Plan mode");
  });
});

describe("a session whose mode changes while a call is under way, which another node goes on with", () => {
  it("an approved plan stays approved, as it was edited", async () => {
    const switched = Promise.withResolvers<void>();
    const { server, options } = await scriptedProvider(
      calls("c1", "present_plan", { plan: "Delete all" }),
      says("Done"),
    );
    await using _ = server;
    const storage = await openStorage("memory");
    // The node is gone when the session is switched over and the plan has no result yet.
    const updateSession: Storage["updateSession"] = async (...update) => {
      await storage.updateSession(...update);
      switched.resolve();
      return new Promise(() => undefined);
    };
    const first = await startRuntime({ ...options, storage: { ...storage, updateSession }, session: { mode: "plan" } });
    const rest = answer(first, await say(first, "Go"), { type: "edit", args: { plan: "Delete nothing" } });
    await switched.promise;
    await first.runtime.engine.drain(0);
    await startRuntime({ ...options, storage });
    const events = await rest;
    expect(dataOf(events, "tool_result")).toMatchObject([
      { tool_call_id: "c1", outcome: "ok", output: expect.stringContaining("Delete nothing") },
    ]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain("Delete nothing");
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  });

  it("what has begun is not said to be denied", async () => {
    const begun = Promise.withResolvers<void>();
    const charge = defineTool({
      ...{ name: "charge", description: "Charges", schema: z.object({}), on_crash: "never", effect: "write" },
      run: () => {
        begun.resolve();
        return new Promise<string>(() => undefined);
      },
    }) as ToolDefinition;
    const { server, options } = await scriptedProvider(calls("c1", "charge", {}), says("Done"));
    await using _ = server;
    const setting = { ...options, tools: [charge] };
    const first = await startRuntime(setting);
    const rest = say(first, "Go");
    await begun.promise;
    const { storage, session } = first;
    await storage.updateSession(session.id, { mode: "plan" });
    await first.runtime.engine.drain(0);
    await startRuntime({ ...setting, storage });
    const events = await rest;
    expect(dataOf(events, "tool_result")).toContainEqual(
      expect.objectContaining({ tool_call_id: "c1", outcome: "unknown" }),
    );
    const [{ run_id }] = events as [StoredEvent];
    expect(await storage.listToolCalls(run_id ?? "")).toMatchObject([{ tool_call_id: "c1", status: "unknown" }]);
  });
});

describe("what an agent knows of the user and the task", () => {
  it("is in its prompt, and it adds to the task's workspace", async () => {
    const { server, options } = await scriptedProvider(
      calls("c1", "note_insight", { insight: "The build is slow" }),
      calls("c2", "note_fact", { key: "branch", value: "main" }),
      says("Noted."),
    );
    await using _ = server;
    const started = await startRuntime({ session: { scopes: { user: "ann" } }, ...options });
    const scope = { user: "ann" };
    const tasks = createTasks(started.storage);
    await tasks.patchProfile("ann", { goals: ["Ship on Friday"] }, scope);
    const conversation_id = started.session.id;
    const { task_id } = await tasks.startTask({ query: "Speed up", user_id: "ann", conversation_id, scope });
    expect(dataOf(await say(started, "Look at the build"), "done")).toMatchObject([{ status: "succeeded" }]);
    const prompt = JSON.stringify(server.requests[0]?.body["messages"]);
    expect(prompt).toContain("Goal: Ship on Friday");
    expect(prompt).toContain("Objective: Speed up");
    const { workspace } = await tasks.continueTask({ task_id, user_id: "ann", scope });
    expect(workspace).toMatchObject({ insights: ["The build is slow"], facts: { branch: "main" } });
    await say(started, "And now?");
    expect(JSON.stringify(server.requests.at(-1)?.body["messages"])).toContain("Insight: The build is slow");
  });

  it("is nothing where there is neither user nor task, and the tools for it are not there", async () => {
    const { server, options } = await scriptedProvider(says("Hello."));
    await using _ = server;
    const started = await startRuntime({ ...options });
    await createTasks(started.storage).patchProfile("default", { goals: ["Secret"] });
    await say(started, "Hello");
    const [request] = server.requests;
    expect(JSON.stringify(request?.body)).not.toContain("Secret");
    expect(JSON.stringify(request?.body)).not.toContain("note_insight");
  });
});
