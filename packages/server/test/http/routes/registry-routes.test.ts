import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Agent,
  type AgentPage,
  Problem,
  type Provider,
  type ProviderPage,
  type ToolPage,
} from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempDir } from "../../../../../testing/temp-dir.ts";
import { finishRunWithDelivery } from "../../../../thread/src/conformance/finished-run.ts";
import { compose, type Runtime } from "../../../src/compose.ts";
import { PROTOCOLS } from "../../model/providers.ts";
import { openScriptedServer } from "../../model/scripted-server.ts";

const KEY = "sk-secret-0123456789abcdef";

let storage: Storage;
let runtime: Runtime;
let folder: ReturnType<typeof createTempDir>;
let faults: unknown[];

beforeEach(async () => {
  folder = createTempDir();
  const skill = join(folder.path, ".cognition/skills/review");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: review\ndescription: Reviews code.\n---\nRead it twice.\n");
  storage = await openStorage("memory");
  faults = [];
  const env = { PATH: process.env["PATH"], OPENAI_API_KEY: KEY };
  runtime = await compose({
    storage,
    workspace_root: folder.path,
    env,
    authenticate: async (headers) => ({ admin: headers.get("x-role") !== "user" }),
    check_replies: true,
    onError: (error) => faults.push(error),
  });
});
afterEach(async () => {
  await runtime.close(0);
  await storage.close();
  folder.remove();
  expect(faults).toEqual([]);
});

interface Sent {
  body?: unknown;
  user?: string;
  role?: "user" | "admin";
}

async function send(method: string, path: string, { body, user, role = "admin" }: Sent = {}): Promise<Response> {
  const scope: Record<string, string> = user === undefined ? {} : { "X-Cognition-Scope-User": user };
  const init = { method, headers: { ...scope, "x-role": role } };
  return runtime.http.app.request(path, body === undefined ? init : { ...init, body: JSON.stringify(body) });
}

async function json<T>(answer: Promise<Response>, status = 200): Promise<T> {
  const response = await answer;
  expect(response.status, await response.clone().text()).toBe(status);
  return (await response.json()) as T;
}

async function refusal(answer: Promise<Response>): Promise<{ code: string; detail: string }> {
  const response = await answer;
  const { status, code, detail } = Problem.parse(await response.json());
  return { code: `${status} ${code}`, detail: detail ?? "" };
}

describe("agents", () => {
  const make = (name: string, more: object = {}, sent: Sent = {}) =>
    send("POST", "/agents", { body: { name, ...more }, ...sent });

  it("are made, read, replaced, changed and deleted, each change with a revision of its own", async () => {
    const made = await json<Agent>(make("helper", { system_prompt: "Help.", tools: ["read_file"] }), 201);
    expect(made).toMatchObject({ name: "helper", source: "api", mode: "all", tools: ["read_file"] });
    expect(await json(send("GET", "/agents/helper"))).toEqual(made);
    const changed = await json<Agent>(send("PATCH", "/agents/helper", { body: { description: "Helps" } }));
    expect(changed).toMatchObject({ description: "Helps", system_prompt: "Help.", tools: ["read_file"] });
    const replaced = await json<Agent>(send("PUT", "/agents/helper", { body: { system_prompt: "Help more." } }));
    expect(replaced).toMatchObject({ description: "", system_prompt: "Help more.", tools: null });
    expect(new Set([made, changed, replaced].map(({ revision }) => revision)).size).toBe(3);
    expect((await refusal(make("helper"))).code).toBe("409 already_exists");
    expect((await send("DELETE", "/agents/helper")).status).toBe(204);
    expect((await refusal(send("GET", "/agents/helper"))).code).toBe("404 agent_not_found");
    expect((await refusal(send("DELETE", "/agents/helper"))).code).toBe("404 agent_not_found");
    expect((await refusal(send("PATCH", "/agents/helper", { body: {} }))).code).toBe("404 agent_not_found");
  });

  it("are listed by name and page, and by mode", async () => {
    await make("b", { mode: "subagent" });
    await make("a", { mode: "subagent" });
    const page = await json<AgentPage>(send("GET", "/agents?limit=3"));
    expect(page.agents.map(({ name }) => name)).toEqual(["a", "b", "default"]);
    expect(page).toMatchObject({ total: 4, has_more: true });
    const subagents = await json<AgentPage>(send("GET", "/agents?mode=subagent"));
    expect(subagents.agents.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it.each(["default", "readonly"])("the built-in %s can't be written", async (name) => {
    expect((await refusal(make(name))).code).toBe("409 already_exists");
    expect((await refusal(send("PUT", `/agents/${name}`, { body: {} }))).code).toBe("409 not_writable");
    expect((await refusal(send("PATCH", `/agents/${name}`, { body: {} }))).code).toBe("409 not_writable");
    expect((await refusal(send("DELETE", `/agents/${name}`))).code).toBe("409 not_writable");
  });

  it.each([
    [{ tools: ["no_tool"] }, "422 unknown_tool", "no_tool"],
    [{ interrupt_on: { no_tool: true } }, "422 unknown_tool", "no_tool"],
    [{ skills: ["no_skill"] }, "422 validation_failed", "no_skill"],
    [{ subagents: ["nobody"] }, "422 unknown_agent", "nobody"],
    [{ subagents: ["default"] }, "422 unknown_agent", "primary"],
    [{ middleware: ["nothing"] }, "422 validation_failed", "nothing"],
    [{ config: { provider_id: "nowhere" } }, "422 unknown_provider", "nowhere"],
    [{ memory: ["../secret"] }, "422 validation_failed", "../secret"],
    [{ response_format: { type: "string" } }, "422 validation_failed", "response_format"],
    [{ colour: "red" }, "422 validation_failed", "colour"],
  ])("%j is refused by name, and nothing is stored", async (more, code, named) => {
    const refused = await refusal(make("helper", more));
    expect(refused.code).toBe(code);
    expect(refused.detail).toContain(named);
    expect((await json<AgentPage>(send("GET", "/agents"))).total).toBe(2);
  });

  it("a skill that is there may be named", async () => {
    expect(await json(make("helper", { skills: ["review"] }), 201)).toMatchObject({ skills: ["review"] });
  });

  it("readonly has no tool that writes or executes, and reaches no agent that has", async () => {
    await make("writer", { tools: ["write_file"] });
    await make("reader", { tools: ["read_file"] });
    await make("middleman", { tools: ["read_file"], subagents: ["writer"] });
    const { tools } = await json<ToolPage>(send("GET", "/tools?limit=500"));
    const writing = new Set(tools.filter(({ writes }) => writes).map(({ name }) => name));
    expect(writing).toContain("execute");
    const readonly = await json<Agent>(send("GET", "/agents/readonly"));
    expect(readonly.tools?.filter((name) => writing.has(name))).toEqual([]);
    const { delegates } = await runtime.agents.resolveForSession("readonly");
    expect(delegates["readonly"]).toEqual(["reader"]);
  });

  it("belong to a scope: the most specific is used, others don't see it", async () => {
    await make("helper", { description: "everybody's" });
    expect(await json(make("helper", { description: "ann's" }, { user: "ann", role: "user" }), 201)).toBeDefined();
    const seen = async (user?: string) =>
      (await json<Agent>(send("GET", "/agents/helper", user === undefined ? {} : { user }))).description;
    expect([await seen("ann"), await seen("bob"), await seen()]).toEqual(["ann's", "everybody's", "everybody's"]);
    await make("private", {}, { user: "ann" });
    expect((await refusal(send("GET", "/agents/private", { user: "bob" }))).code).toBe("404 agent_not_found");
    expect((await refusal(send("DELETE", "/agents/private", { user: "bob" }))).code).toBe("404 agent_not_found");
    const wider = await refusal(send("PATCH", "/agents/helper", { user: "bob", body: { description: "x" } }));
    expect(wider.code).toBe("409 not_writable");
    expect((await send("DELETE", "/agents/helper", { user: "ann", role: "user" })).status).toBe(204);
    expect(await seen("ann")).toBe("everybody's");
  });

  it("for every scope are an admin's to write", async () => {
    const role = "user" as const;
    await make("helper");
    for (const answer of [
      make("mine", {}, { role }),
      send("PUT", "/agents/helper", { role, body: {} }),
      send("PATCH", "/agents/helper", { role, body: {} }),
      send("DELETE", "/agents/helper", { role }),
    ])
      expect((await refusal(answer)).code).toBe("403 forbidden");
    expect((await send("GET", "/agents/helper", { role })).status).toBe(200);
  });

  it.each(["no such", "a%00b", "%F0%9F%91%8B", "x".repeat(300)])(
    "a name like %j is not found, or not valid",
    async (name) => {
      for (const method of ["GET", "DELETE"]) {
        expect((await send(method, `/agents/${name}`)).status).toBeOneOf([404, 422]);
      }
      expect((await send("PUT", `/agents/${name}`, { body: {} })).status).toBe(422);
    },
  );
});

describe("skills, tools and models", () => {
  it("are listed by page", async () => {
    expect(await json(send("GET", "/skills"))).toMatchObject({
      skills: [{ name: "review" }],
      total: 1,
      has_more: false,
    });
    const tools = await json<ToolPage>(send("GET", "/tools?limit=500"));
    expect(tools.tools.find(({ name }) => name === "execute")).toMatchObject({ writes: true, safe_to_retry: false });
    expect(tools.tools.find(({ name }) => name === "browser")?.parameters).toHaveProperty("properties.url");
    const names = tools.tools.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    const second = await json<ToolPage>(send("GET", "/tools?limit=1&offset=1"));
    expect(second.tools.map(({ name }) => name)).toEqual([names[1]]);
    const models = await json<{ models: { id: string }[] }>(send("GET", "/models?provider_id=openai&limit=500"));
    expect(models.models.map(({ id }) => id)).toContain("gpt-5.4");
    expect(await json(send("GET", "/models?provider_id=nobody"))).toMatchObject({ models: [], total: 0 });
  });
});

describe("providers", () => {
  const own = { id: "own", provider: "openai_compatible", base_url: "http://127.0.0.1:9/v1", model: "m" };
  const make = (more: object = {}, sent: Sent = {}) =>
    send("POST", "/models/providers", { body: { ...own, ...more }, ...sent });

  it("are made, read, changed and removed", async () => {
    const made = await json<Provider>(make(), 201);
    expect(made).toMatchObject({ ...own, source: "api", enabled: true, has_key: false, scope: {} });
    expect(await json(send("GET", "/models/providers/own"))).toEqual(made);
    expect((await refusal(make())).code).toBe("409 already_exists");
    const patch = (id: string, body: object) => send("PATCH", `/models/providers/${id}`, { body });
    expect(await json(patch("own", { priority: 1 }))).toMatchObject({ ...own, priority: 1 });
    const { providers } = await json<ProviderPage>(send("GET", "/models/providers"));
    expect(providers.map(({ id }) => id)).toEqual(["own", "openai", "offline"]);
    expect((await refusal(patch("openai", { priority: 1 }))).code).toBe("409 not_writable");
    expect((await send("DELETE", "/models/providers/own")).status).toBe(204);
    expect((await refusal(send("DELETE", "/models/providers/own"))).code).toBe("404 provider_not_found");
    expect((await refusal(patch("own", {}))).code).toBe("404 provider_not_found");
  });

  it("are an admin's to write, in whichever scope", async () => {
    await make();
    const role = "user" as const;
    for (const user of [undefined, "ann"]) {
      const sent = { role, ...(user && { user }) };
      for (const answer of [
        make({ id: "mine" }, sent),
        send("PATCH", "/models/providers/own", { ...sent, body: { base_url: "https://evil.example" } }),
        send("DELETE", "/models/providers/own", sent),
      ])
        expect((await refusal(answer)).code).toBe("403 forbidden");
    }
    expect((await send("GET", "/models/providers", { role })).status).toBe(200);
  });

  it("belong to a scope, and hide a wider one of the same id", async () => {
    await make();
    await make({ model: "ann's" }, { user: "ann" });
    const model = async (user: string) => (await json<Provider>(send("GET", "/models/providers/own", { user }))).model;
    expect([await model("ann"), await model("bob")]).toEqual(["ann's", "m"]);
    await make({ id: "private" }, { user: "ann" });
    expect((await refusal(send("GET", "/models/providers/private", { user: "bob" }))).code).toBe(
      "404 provider_not_found",
    );
    const test = send("POST", "/models/providers/private/test", { user: "bob", body: {} });
    expect((await refusal(test)).code).toBe("404 provider_not_found");
  });

  it("take keys by the name of an allowed variable only, for its hosts only, and never show one", async () => {
    const refused = [
      [{ api_key_env: "PATH" }, "invalid_config"],
      [{ api_key_env: "OPENAI_API_KEY", base_url: "https://evil.example/v1" }, "invalid_config"],
      [{ api_key: KEY }, "validation_failed"],
      [{ provider: "nope" }, "unknown_provider"],
      [{ base_url: "file:///etc/passwd" }, "validation_failed"],
      [{ base_url: `https://me:${KEY}@api.example/v1` }, "validation_failed"],
    ] as const;
    for (const [more, code] of refused) expect((await refusal(make(more))).code).toBe(`422 ${code}`);
    const allowed = { provider: "openai", base_url: null, api_key_env: "OPENAI_API_KEY", id: "mine" };
    expect(await json(make(allowed), 201)).toMatchObject({ api_key_env: "OPENAI_API_KEY", has_key: true });
    for (const path of ["/models/providers", "/models/providers/mine", "/models", "/models/providers/openai"]) {
      expect(await (await send("GET", path)).text()).not.toContain(KEY);
    }
  });

  it("are tested with a real call", async () => {
    const [protocol] = PROTOCOLS;
    await using server = await openScriptedServer();
    if (!protocol) throw new Error("no protocol");
    server.script(protocol.says("ok"), protocol.fails(500, "broken"));
    await make({ base_url: `${server.url}/v1` });
    const test = () => json(send("POST", "/models/providers/own/test", { body: {}, role: "user" }));
    expect(await test()).toMatchObject({ ok: true, model: "m", error: null });
    expect(await test()).toMatchObject({ ok: false, error: { code: "model_failed" } });
    expect((await refusal(send("POST", "/models/providers/nobody/test", { body: {} }))).code).toBe(
      "404 provider_not_found",
    );
  });
});

describe("deliveries", () => {
  it("are listed, read and sent again, within the scope", async () => {
    const payload = {
      ...{ session_id: "s", message_id: null, status: "done", output: null, token_usage: { input: 0, output: 0 } },
      ...{ model_used: null, completed_at: new Date(0).toISOString() },
    };
    const delivery = { url: "https://example.com/", payload };
    const { session_id } = await finishRunWithDelivery(storage, delivery, { user: "ann" });
    await finishRunWithDelivery(storage, delivery, { user: "bob" });
    type Page = { deliveries: { id: string }[]; total: number };
    const list = (query: string, user?: string) => json<Page>(send("GET", `/deliveries${query}`, user ? { user } : {}));
    expect(await list("?limit=1")).toMatchObject({ total: 2, has_more: true });
    expect(await list("?status=dead", "ann")).toMatchObject({ deliveries: [], total: 0 });
    const { deliveries } = await list(`?session_id=${session_id}`, "ann");
    const id = deliveries[0]?.id ?? "";
    expect(await list(`?session_id=${session_id}`, "bob")).toMatchObject({ total: 0 });
    expect(await json(send("GET", `/deliveries/${id}`, { user: "ann" }))).toMatchObject({ id, attempts: [] });
    await storage.recordAttempt(id, { status_code: 500, error: "answered 500", ok: false });
    expect(await json(send("GET", `/deliveries/${id}`, { user: "ann" }))).toMatchObject({
      status: "dead",
      attempts: [{ attempt: 1, status: 500, error: "answered 500" }],
    });
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/redeliver"],
    ] as const) {
      const foreign = send(method, `/deliveries/${id}${path}`, { user: "bob", ...(method === "POST" && { body: {} }) });
      expect((await refusal(foreign)).code).toBe("404 delivery_not_found");
    }
    const again = send("POST", `/deliveries/${id}/redeliver`, { user: "ann", body: {} });
    expect(await json(again, 202)).toMatchObject({ status: "pending" });
  });
});

describe("budgets", () => {
  it("are an admin's to write: a limit that whoever spends could raise would be none", async () => {
    const put = (role: "user" | "admin") =>
      send("PUT", "/budgets", { body: { budgets: [{ max_cost: 1 }] }, user: "ann", role });
    expect((await refusal(put("user"))).code).toBe("403 forbidden");
    expect(await json(send("GET", "/budgets", { user: "ann", role: "user" }))).toEqual({ budgets: [] });
    expect(await json(put("admin"))).toMatchObject({ budgets: [{ max_cost: 1, period: "month", remaining_cost: 1 }] });
  });
});

describe("usage", () => {
  it("is counted for the caller's scope", async () => {
    expect(await json(send("GET", "/usage?group_by=model", { user: "ann" }))).toEqual({
      group_by: "model",
      rows: [],
      total: { input_tokens: 0, output_tokens: 0, estimated_cost: 0, runs: 0 },
    });
    expect((await refusal(send("GET", "/usage?from=yesterday"))).code).toBe("422 validation_failed");
    expect((await refusal(send("GET", "/usage?group_by=colour"))).code).toBe("422 validation_failed");
  });
});
