import { openStorage } from "@cognition/thread";
import { expect, it, onTestFinished } from "vitest";
import { createMigratedDatabase } from "../../../thread/test/migrated-database.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";

/** Two nodes on one PostgreSQL. The second works on nothing by itself, and has just looked at what is defined. */
async function startNodes(): Promise<[TestServer, TestServer]> {
  const database = await createMigratedDatabase();
  onTestFinished(database.drop);
  const start = async (works: boolean) => {
    const storage = await openStorage({ uri: database.url, pool: { min: 0, max: 4 } });
    onTestFinished(() => storage.close());
    return startTestServer({ storage, works });
  };
  return [await start(true), await start(false)];
}

async function post(node: TestServer, path: string, json: object): Promise<number> {
  return (await node.ask(path, { method: "POST", json })).status;
}

const agent = { system_prompt: "You help.", description: "Helps" };

it("an agent that was made through one node is known to another at once, to whatever names it", async () => {
  const [first, second] = await startNodes();
  const names = ["a1", "a2", "a3", "a4"];
  for (const name of names) {
    await second.createSession(); // so that it has just looked
    expect(await post(first, "/agents", { ...agent, name })).toBe(201);
    if (name === "a1") expect(await post(second, "/sessions", { agent_name: name })).toBe(201);
    if (name === "a2") expect((await second.ask(`/agents/${name}`)).status).toBe(200);
    if (name === "a3") expect(await post(second, "/agents", { ...agent, name: "lead", subagents: [name] })).toBe(201);
    if (name === "a4") expect((await second.ask(`/agents/${name}`, { method: "DELETE" })).status).toBe(204);
  }
  expect(await post(second, "/sessions", { agent_name: "a4" })).toBe(422);
});

it("so is a model provider: a run that was accepted with it does not fail where it is worked on", async () => {
  const [first, second] = await startNodes();
  const provider = { id: "own", provider: "openai_compatible", base_url: "http://127.0.0.1:9/v1", model: "m" };
  await second.createSession({ config: { model: "offline" } });
  expect(await post(first, "/models/providers", provider)).toBe(201);
  expect(await post(second, "/sessions", { config: { provider_id: "own" } })).toBe(201);
  expect(await post(first, "/models/providers", { ...provider, id: "other" })).toBe(201);
  expect((await second.ask("/models/providers/other")).status).toBe(200);
});
