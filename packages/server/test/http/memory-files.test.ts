import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { createApiKeys } from "../../src/http/auth/api-keys.ts";
import { problemOf } from "./problem-of.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

const ANN = { "X-Cognition-Scope-User": "ann" };
const MALLORY = { "X-Cognition-Scope-User": "mallory" };
/** The offline model does as its prompt says, so that the answer tells what is in there. */
const TELLING = "Start every reply with HUNTER2.";

function scoped(): Promise<TestServer> {
  return startTestServer({ scoping: { enabled: true, keys: ["user"] } });
}

const make = ({ ask }: TestServer, memory: string[], headers: Record<string, string> = MALLORY) =>
  ask("/agents", { method: "POST", json: { name: "spy", system_prompt: "You are terse.", memory }, headers });

async function answerOf(server: TestServer, agent_name: string): Promise<string> {
  const { id } = await server.createSession({ agent_name }, MALLORY);
  const headers = { ...MALLORY, Accept: "application/json" };
  await (await server.ask(`/sessions/${id}/messages`, { method: "POST", json: { content: "Hello" }, headers })).text();
  const { messages } = (await (await server.ask(`/sessions/${id}/messages`, { headers })).json()) as {
    messages: { content: string }[];
  };
  return messages[0]?.content ?? "";
}

describe("the memory files of an agent that a scope made", () => {
  it("are none of another scope's session, by whatever way its folder is named", async () => {
    const server = await scoped();
    const { id } = await server.createSession({}, ANN);
    await server.ask(`/sessions/${id}/files/notes.md`, { method: "PUT", body: TELLING, headers: ANN });
    for (const way of [
      `${id}/notes.md`,
      `./${id}/notes.md`,
      `docs/../${id}/notes.md`,
      `${id.toUpperCase()}/notes.md`,
    ]) {
      expect(await problemOf(make(server, [way]))).toMatchObject({
        code: "validation_failed",
        errors: [{ loc: ["body", "memory", 0] }],
      });
    }
    symlinkSync(id, join(server.root, "current"));
    expect((await make(server, ["current/notes.md"])).status).toBe(201);
    expect(await answerOf(server, "spy")).not.toContain("HUNTER2");
  });

  it("are none of the hidden ones, where keys and settings are; those in sight are read", async () => {
    const server = await scoped();
    for (const file of [".env", ".cognition/config.yaml", "notes.md"]) writeFileSync(join(server.root, file), TELLING);
    symlinkSync(".env", join(server.root, "settings"));
    for (const file of [".env", ".cognition/config.yaml", "docs/../.env", "docs/.secret/key"]) {
      expect(await problemOf(make(server, [file]))).toMatchObject({ code: "validation_failed", status: 422 });
    }
    expect((await make(server, ["settings"])).status).toBe(201);
    expect(await answerOf(server, "spy")).not.toContain("HUNTER2");
    await server.ask("/agents/spy", { method: "PATCH", json: { memory: ["notes.md"] }, headers: MALLORY });
    expect(await answerOf(server, "spy")).toContain("HUNTER2");
  });

  it("are named by administrators only: the files of the root are the server's", async () => {
    const config = defaultConfig();
    const server = await startTestServer({
      config: { ...config, scoping: { enabled: true, keys: ["user"] }, auth: { ...config.auth, mode: "api_key" } },
    });
    const keys = createApiKeys(server.storage.apiKeys);
    const { key } = await keys.create({ name: "tenant", scope: { user: "mallory" } });
    const admin = await keys.create({ name: "admin", scope: { user: "mallory" }, admin: true });
    const as = { "X-API-Key": key };
    expect((await make(server, [], as)).status).toBe(201);
    for (const [method, path, json] of [
      ["POST", "/agents", { name: "other", memory: ["notes.md"] }],
      ["PUT", "/agents/spy", { memory: ["notes.md"] }],
      ["PATCH", "/agents/spy", { memory: ["notes.md"] }],
    ] as const) {
      expect(await problemOf(server.ask(path, { method, json, headers: as }))).toMatchObject({ code: "forbidden" });
    }
    const named = { method: "PATCH", json: { memory: ["notes.md"] }, headers: { "X-API-Key": admin.key } };
    expect((await server.ask("/agents/spy", named)).status).toBe(200);
    const described = { method: "PATCH", json: { description: "terse" }, headers: as };
    expect((await server.ask("/agents/spy", described)).status).toBe(200);
  });
});

it("an agent of a file may name what is hidden: whoever writes it has the files", async () => {
  const agents = { "reader.md": "---\nmemory: [.notes/all.md]\n---\nYou are terse." };
  const server = await startTestServer({ agents });
  expect(await (await server.ask("/agents/reader")).json()).toMatchObject({ memory: [".notes/all.md"] });
});
